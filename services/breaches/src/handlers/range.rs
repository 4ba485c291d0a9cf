//! Breaches of the addresses whose hash begins with a prefix.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, get};
use database::Db;

use super::input::Segment;
use super::json;
use crate::caller::{Asked, Caller};
use crate::error::Error;
use crate::model::plan::Operation;
use crate::model::{AccountKey, Breach, EmailPrefix, address_text};
use crate::state::{State, View};
use crate::store::account::{self, RangeRow};
use crate::wire::{HashSuffix, RangeEntry};

/// Bytes of an entry with two or three breaches.
const USUAL_ENTRY: usize = 96;

/// Breaches by hash prefix
///
/// The client sends the first 6 characters of the SHA-1 of the normalised address (trimmed,
/// lower-case) and looks for the other 34 in the answer. Entries that do not match must be
/// discarded at once and never be stored. An address whose suffix is absent is in no breach.
/// Plans with `IncludesKAnon`: Pro, High RPM; test keys see the test accounts.
#[utoipa::path(
    path = "/api/v3/breachedaccount/range/{prefix}",
    operation_id = "breachedAccountRange",
    tag = "Accounts",
    security(("key" = [])),
    params(("prefix" = String, Path, description = "The first 6 hexadecimal characters of the SHA-1 of the address, any case", pattern = "^[0-9A-Fa-f]{6}$", example = "567159")),
    responses(
        (status = 200, description = "The addresses with this prefix, by suffix; may be empty", body = [RangeEntry]),
    )
)]
#[get("/api/v3/breachedaccount/range/{prefix}")]
pub async fn breached_account_range(
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let asked = Asked::read(&request, state.settings(), Operation::BreachedAccountRange, "")?;
    let segment = Segment::of(&request);
    let body = state
        .keyed(asked, move |db, view, caller| {
            let prefix = EmailPrefix::parse(segment.text()).ok_or(Error::Prefix)?;
            let (low, high) = prefix.keys();
            let mut entries = Vec::new();
            for row in account::range(db, low, high)? {
                entries.extend(entry(db, view, caller, &row)?);
            }
            entries.sort_unstable();
            let mut body = Vec::with_capacity(entries.len() * USUAL_ENTRY + 2);
            match serde_json::to_writer(&mut body, &entries) {
                Ok(()) => Ok(body),
                Err(error) => Err(Error::Internal(error.to_string())),
            }
        })
        .await?;
    Ok(json(body))
}

/// What the answer says of an account, if anything.
fn entry<'v>(
    db: &mut Db,
    view: &'v View,
    caller: &Caller,
    row: &RangeRow,
) -> Result<Option<RangeEntry<'v>>, Error> {
    let websites = view.snapshot.catalogue.names(&row.breaches, Breach::shown_for_address);
    if websites.is_empty() || (caller.subscriber.is_none() && !is_test(view, row)) {
        return Ok(None);
    }
    let digest = address_text::digest(&row.local, &row.domain);
    if view.opt_outs.may_hold(AccountKey::of(&digest)) && view.opt_out(db, &digest)?.is_some() {
        return Ok(None);
    }
    Ok(Some(RangeEntry { hash_suffix: HashSuffix::of(&digest), websites }))
}

fn is_test(view: &View, row: &RangeRow) -> bool {
    view.state.settings().test_email_domain.covers(&row.domain)
}
