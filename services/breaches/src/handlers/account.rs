//! Breaches of an address.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, get};

use super::input::{Query, Segment};
use super::json;
use crate::caller::Asked;
use crate::error::Error;
use crate::model::Breach;
use crate::model::plan::Operation;
use crate::state::State;
use crate::wire::AccountBreach;

/// Which breaches of an account are wanted, and how.
struct Wanted {
    truncated: bool,
    domain: Option<String>,
    unverified: bool,
}

impl Wanted {
    fn parse(query: &str) -> Result<Self, Error> {
        let query = Query::parse(query)?;
        Ok(Self {
            truncated: query.boolean("truncateResponse")?.unwrap_or(true),
            domain: query.text("Domain").map(str::to_lowercase),
            unverified: query.boolean("IncludeUnverified")?.unwrap_or(true),
        })
    }

    fn lets_through(&self, breach: &Breach) -> bool {
        breach.shown_for_address()
            && (self.unverified || breach.flags.verified)
            && self.domain.as_ref().is_none_or(|domain| *domain == breach.domain)
    }
}

/// Breaches of an address
///
/// Sensitive, retired and inactive breaches are left out, and so are addresses whose owners opted
/// out. Plans: Core, Pro, High RPM; test keys for addresses at the test domain.
#[utoipa::path(
    path = "/api/v3/breachedAccount/{email}",
    operation_id = "breachedAccount",
    tag = "Accounts",
    security(("key" = [])),
    params(
        ("email" = String, Path, description = "Address; trimmed, any letter case", example = "account-exists@breach-integration-tests.example"),
        ("truncateResponse" = Option<bool>, Query, description = "`false` answers with the full breach model; default `true`"),
        ("Domain" = Option<String>, Query, description = "Only breaches of this domain, ignoring case"),
        ("IncludeUnverified" = Option<bool>, Query, description = "`false` leaves unverified breaches out; default `true`"),
    ),
    responses(
        (status = 200, description = "The breaches, by title", body = [AccountBreach], example = json!([{"Name": "Acmegram"}])),
        (status = 404, description = "The address is in no breach; the body is empty"),
    )
)]
#[get("/api/v3/breachedAccount/{email}")]
pub async fn breached_account(
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let asked = Asked::read(&request, state.settings(), Operation::BreachedAccount, "")?;
    let address = Segment::of(&request).email();
    let input = address.and_then(|address| Ok((address, Wanted::parse(request.query_string())?)));
    let body = state
        .keyed_search(asked, input, |db, view, caller, mut sought, wanted| {
            caller.check_scope(view, sought.address.domain())?;
            let row = sought.account(db)?;
            if view.opt_out(db, &sought.digest)?.is_some() {
                return Err(Error::NotFound);
            }
            let catalogue = &view.snapshot.catalogue;
            let places = catalogue.places(&row.breaches, |breach| wanted.lets_through(breach));
            if places.is_empty() {
                return Err(Error::NotFound);
            }
            Ok(view.snapshot.array(&places, wanted.truncated))
        })
        .await?;
    Ok(json(body))
}
