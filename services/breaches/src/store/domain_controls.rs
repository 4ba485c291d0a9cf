//! Domains and the subscribers who control them.

use database::{DatabaseError, Db, on_backend};
use diesel::dsl::{exists, not};
use diesel::prelude::*;

use super::mail_tokens::DOMAIN_LINK;
use super::schema::{
    domain_breach, domain_control, domain_counted, mail_token, outbox, subscriber, suppressed_link,
    untold_paste,
};
use super::turns;
use crate::model::domain_size::{Counted, FREE_SIZE};

/// Verified directly or inherited.
pub(super) const VERIFIED: &str = "verified";
/// Not yet verified.
const PENDING: &str = "pending";
/// Inherited, but exceeds the plan's limit.
pub(super) const NO_ROOM: &str = "no room";
/// Removed by the subscriber and therefore not inherited again.
pub(super) const REMOVED: &str = "removed";
/// Maximum number of pending domains per subscriber.
const MAX_PENDING: i64 = 1_000;
/// Number of domains to look up per statement.
const CHUNK: usize = 500;

/// A subscriber's domain.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable, serde::Serialize)]
#[diesel(table_name = domain_control)]
pub struct Control {
    pub id: i64,
    /// Domain name as A-labels.
    pub domain: String,
    /// `pending`, `verified`, `no room` or `removed`.
    pub state: String,
    /// How it was verified.
    pub method: Option<String>,
    /// When it was verified, in Unix seconds.
    pub verified_at: Option<i64>,
    /// The parent domain it was inherited from, if any.
    pub parent_id: Option<i64>,
    /// Whether the subscriber removed it, so that it must not be inherited again.
    pub detached: bool,
    /// Whether emails about the domain are on.
    pub notify: bool,
    /// Whether the monthly email is on.
    pub monthly: bool,
    /// Number of breached addresses found by the last search.
    pub pwn_count: Option<i64>,
    /// `pwn_count` minus addresses found only in spam lists.
    pub pwn_count_no_spam: Option<i64>,
    /// `pwn_count_no_spam` at the start of the current subscription period.
    pub pwn_count_no_spam_at_renewal: Option<i64>,
    /// Most recent `pwn_count_no_spam`.
    pub size_now: Option<i64>,
    /// Number of addresses in stealer logs as of the last count.
    pub captured: Option<i64>,
}

/// A domain that counts toward the limit on large domains.
#[derive(Clone, Debug, PartialEq, Eq, Queryable)]
pub struct LargerDomain {
    pub id: i64,
    /// Domain name as A-labels.
    pub domain: String,
    /// The parent domain it was inherited from, if any.
    pub parent_id: Option<i64>,
}

impl Control {
    pub fn is_verified(&self) -> bool {
        self.state == VERIFIED
    }
}

/// Looks up a domain that the subscriber controls.
pub fn verified(
    db: &mut Db,
    subscriber: i64,
    domain: &str,
) -> Result<Option<Control>, DatabaseError> {
    Ok(domain_control::table
        .filter(domain_control::subscriber_id.eq(subscriber))
        .filter(domain_control::domain.eq(domain))
        .filter(domain_control::state.eq(VERIFIED))
        .select(Control::as_select())
        .first(db)
        .optional()?)
}

/// Lists the domains a subscriber controls, by name.
pub fn all_verified(db: &mut Db, subscriber: i64) -> Result<Vec<Control>, DatabaseError> {
    let mut rows = domain_control::table
        .filter(domain_control::subscriber_id.eq(subscriber))
        .filter(domain_control::state.eq(VERIFIED))
        .select(Control::as_select())
        .load::<Control>(db)?;
    rows.sort_by(|a, b| a.domain.cmp(&b.domain));
    Ok(rows)
}

/// Returns the subset of `domains` that the subscriber controls.
pub fn verified_of(
    db: &mut Db,
    subscriber: i64,
    domains: &[&str],
) -> Result<Vec<Control>, DatabaseError> {
    let mut found = Vec::new();
    for chunk in domains.chunks(CHUNK) {
        let controls = domain_control::table
            .filter(domain_control::subscriber_id.eq(subscriber))
            .filter(domain_control::domain.eq_any(chunk))
            .filter(domain_control::state.eq(VERIFIED))
            .select(Control::as_select());
        found.extend(controls.load::<Control>(db)?);
    }
    Ok(found)
}

/// Lists the names of all verified domains, without duplicates.
pub fn verified_names(db: &mut Db) -> Result<Vec<String>, DatabaseError> {
    Ok(domain_control::table
        .filter(domain_control::state.eq(VERIFIED))
        .select(domain_control::domain)
        .distinct()
        .order(domain_control::domain)
        .load(db)?)
}

/// Lists the names of verified domains that have not been counted yet, without duplicates.
pub fn uncounted_names(db: &mut Db) -> Result<Vec<String>, DatabaseError> {
    Ok(domain_control::table
        .filter(domain_control::state.eq(VERIFIED))
        .filter(domain_control::size_now.is_null())
        .select(domain_control::domain)
        .distinct()
        .load(db)?)
}

/// Returns whether any verified domain has addresses, as far as its counts show. A domain without
/// counts may have some.
pub fn any_with_addresses(db: &mut Db) -> Result<bool, DatabaseError> {
    let has_any = domain_control::size_now.is_null().or(domain_control::size_now.gt(0_i64));
    let has_any = has_any.or(domain_control::pwn_count.gt(0_i64));
    let has_any = has_any.or(domain_control::captured.gt(0_i64));
    let found = domain_control::table
        .filter(domain_control::state.eq(VERIFIED))
        .filter(has_any)
        .select(domain_control::id)
        .first::<i64>(db)
        .optional()?;
    Ok(found.is_some())
}

/// Returns the subset of `domains` that any subscriber has verified.
pub fn verified_among(db: &mut Db, domains: &[&str]) -> Result<Vec<String>, DatabaseError> {
    let mut found = Vec::new();
    for chunk in domains.chunks(CHUNK) {
        let verified = domain_control::table
            .filter(domain_control::domain.eq_any(chunk))
            .filter(domain_control::state.eq(VERIFIED))
            .select(domain_control::domain)
            .distinct();
        found.extend(verified.load::<String>(db)?);
    }
    Ok(found)
}

/// Lists the ids of all subscribers who control a domain.
pub fn controllers(db: &mut Db, domain: &str) -> Result<Vec<i64>, DatabaseError> {
    Ok(domain_control::table
        .filter(domain_control::domain.eq(domain))
        .filter(domain_control::state.eq(VERIFIED))
        .order(domain_control::subscriber_id)
        .select(domain_control::subscriber_id)
        .load(db)?)
}

/// Lists domains that were verified themselves rather than inherited, as (subscriber, domain).
pub fn verified_roots(db: &mut Db) -> Result<Vec<(i64, String)>, DatabaseError> {
    Ok(domain_control::table
        .filter(domain_control::state.eq(VERIFIED))
        .filter(domain_control::parent_id.is_null())
        .order((domain_control::subscriber_id, domain_control::id))
        .select((domain_control::subscriber_id, domain_control::domain))
        .load(db)?)
}

/// Lists a subscriber's verified and pending domains.
pub fn all(db: &mut Db, subscriber: i64) -> Result<Vec<Control>, DatabaseError> {
    Ok(domain_control::table
        .filter(domain_control::subscriber_id.eq(subscriber))
        .filter(domain_control::state.eq_any([VERIFIED, PENDING]))
        .order(domain_control::id)
        .select(Control::as_select())
        .load(db)?)
}

/// Lists all domains along with their subscribers' addresses.
pub fn with_subscribers(db: &mut Db) -> Result<Vec<(String, Control)>, DatabaseError> {
    Ok(domain_control::table
        .inner_join(subscriber::table)
        .order(domain_control::id)
        .select((subscriber::email, Control::as_select()))
        .load(db)?)
}

/// Lists a subscriber's domains that count toward the limit on large domains, oldest first.
pub fn larger_domains(db: &mut Db, subscriber: i64) -> Result<Vec<LargerDomain>, DatabaseError> {
    Ok(domain_control::table
        .filter(domain_control::subscriber_id.eq(subscriber))
        .filter(domain_control::state.eq(VERIFIED))
        .filter(domain_control::size_now.gt(FREE_SIZE))
        .order(domain_control::id)
        .select((domain_control::id, domain_control::domain, domain_control::parent_id))
        .load(db)?)
}

/// Turns emails about a subscriber's domain on or off.
pub fn set_notify(
    db: &mut Db,
    subscriber: i64,
    domain: &str,
    notify: bool,
) -> Result<(), DatabaseError> {
    let own = domain_control::table
        .filter(domain_control::subscriber_id.eq(subscriber))
        .filter(domain_control::domain.eq(domain));
    diesel::update(own).set(domain_control::notify.eq(notify)).execute(db)?;
    Ok(())
}

/// Saves the counts from a search. The first search in a subscription period also locks in the
/// count for that period.
pub fn set_counts(db: &mut Db, id: i64, counted: Counted, now: i64) -> Result<(), DatabaseError> {
    let row = domain_control::table.find(id);
    diesel::update(row)
        .set((
            domain_control::pwn_count.eq(counted.all),
            domain_control::pwn_count_no_spam.eq(counted.no_spam),
            domain_control::size_now.eq(counted.no_spam),
            domain_control::counted_at.eq(now),
        ))
        .execute(db)?;
    diesel::update(row.filter(domain_control::pwn_count_no_spam_at_renewal.is_null()))
        .set(domain_control::pwn_count_no_spam_at_renewal.eq(counted.no_spam))
        .execute(db)?;
    Ok(())
}

/// Saves a domain's size and its number of addresses in stealer logs for everyone who controls it.
pub fn set_size(
    db: &mut Db,
    domain: &str,
    (size, captured): (i64, i64),
    now: i64,
) -> Result<usize, DatabaseError> {
    let rows = domain_control::table
        .filter(domain_control::domain.eq(domain))
        .filter(domain_control::state.eq(VERIFIED));
    Ok(diesel::update(rows)
        .set((
            domain_control::size_now.eq(size),
            domain_control::captured.eq(captured),
            domain_control::counted_at.eq(now),
        ))
        .execute(db)?)
}

/// Returns the verification code for a subscriber's domain, storing `new` if there is none yet.
/// Returns `None` if the subscriber already has [`MAX_PENDING`] pending domains.
pub fn begin(
    db: &mut Db,
    subscriber: i64,
    domain: &str,
    new: &str,
) -> Result<Option<String>, DatabaseError> {
    turns::take_subscriber(db, subscriber)?;
    let own = domain_control::table.filter(domain_control::subscriber_id.eq(subscriber));
    let row = own.filter(domain_control::domain.eq(domain));
    let found: Option<(String, String)> =
        row.select((domain_control::state, domain_control::code)).first(db).optional()?;
    let code = match found {
        Some((state, code)) if matches!(state.as_str(), VERIFIED | PENDING) => {
            return Ok(Some(code));
        }
        Some((_, code)) => code,
        None => new.to_owned(),
    };
    let pending = own.filter(domain_control::state.eq(PENDING));
    if pending.count().get_result::<i64>(db)? >= MAX_PENDING {
        return Ok(None);
    }
    let pending = (domain_control::state.eq(PENDING), domain_control::parent_id.eq(None::<i64>));
    let row = (
        domain_control::subscriber_id.eq(subscriber),
        domain_control::domain.eq(domain),
        domain_control::code.eq(&code),
        domain_control::customer.eq(false),
        domain_control::detached.eq(false),
        pending,
    );
    on_backend!(db, conn => diesel::insert_into(domain_control::table)
        .values(row)
        .on_conflict((domain_control::subscriber_id, domain_control::domain))
        .do_update()
        .set(pending)
        .execute(conn))?;
    Ok(Some(code))
}

/// Looks up the code for a subscriber's domain.
pub fn code(db: &mut Db, subscriber: i64, domain: &str) -> Result<Option<String>, DatabaseError> {
    let own = domain_control::subscriber_id.eq(subscriber).and(domain_control::domain.eq(domain));
    Ok(domain_control::table.filter(own).select(domain_control::code).first(db).optional()?)
}

/// A verification to save.
#[derive(Clone, Copy, Debug)]
pub struct Verification<'a> {
    /// Id of the subscriber who will control the domain.
    pub subscriber: i64,
    pub domain: &'a str,
    /// Stored only if the domain doesn't have a code yet.
    pub code: &'a str,
    pub method: &'a str,
    pub parent: Option<i64>,
    /// The domain's size and number of addresses in stealer logs, if they've been counted.
    pub sizes: Option<(i64, i64)>,
    /// Time of the verification in Unix seconds.
    pub now: i64,
}

/// Marks a domain as verified and returns its id.
pub fn verify(db: &mut Db, new: &Verification<'_>) -> Result<i64, DatabaseError> {
    let changed = (
        domain_control::state.eq(VERIFIED),
        domain_control::method.eq(new.method),
        domain_control::parent_id.eq(new.parent),
        domain_control::verified_at.eq(new.now),
        domain_control::size_now.eq(new.sizes.map(|(size, _)| size)),
        domain_control::captured.eq(new.sizes.map(|(_, captured)| captured)),
        domain_control::counted_at.eq(new.sizes.map(|_| new.now)),
    );
    let row = (
        domain_control::subscriber_id.eq(new.subscriber),
        domain_control::domain.eq(new.domain),
        domain_control::code.eq(new.code),
        domain_control::customer.eq(false),
        domain_control::detached.eq(false),
        changed,
    );
    on_backend!(db, conn => diesel::insert_into(domain_control::table)
        .values(row)
        .on_conflict((domain_control::subscriber_id, domain_control::domain))
        .do_update()
        .set(changed)
        .execute(conn))?;
    Ok(domain_control::table
        .filter(domain_control::subscriber_id.eq(new.subscriber))
        .filter(domain_control::domain.eq(new.domain))
        .select(domain_control::id)
        .first(db)?)
}

/// Cleans up after subscribers have lost `domains`. If no subscriber controls a domain any longer,
/// its notice state is deleted so that a later controller starts from scratch. Pending messages and
/// verification links for a domain are deleted for subscribers who no longer have it.
///
/// Waits for transactions that are verifying one of these domains for another subscriber.
pub(super) fn forget_lost(db: &mut Db, domains: &[&str]) -> Result<(), DatabaseError> {
    turns::take_notices(db, domains)?;
    for chunk in domains.chunks(CHUNK) {
        forget_uncontrolled(db, chunk)?;
    }
    Ok(())
}

fn forget_uncontrolled(db: &mut Db, domains: &[&str]) -> Result<(), DatabaseError> {
    let controlled = verified_among(db, domains)?;
    let lost: Vec<&str> = domains
        .iter()
        .copied()
        .filter(|domain| !controlled.iter().any(|name| name == domain))
        .collect();
    let counted = domain_counted::table.filter(domain_counted::domain.eq_any(&lost));
    diesel::delete(counted).execute(db)?;
    let by_breach = domain_breach::table.filter(domain_breach::domain.eq_any(&lost));
    diesel::delete(by_breach).execute(db)?;
    let silent = suppressed_link::table.filter(suppressed_link::domain.eq_any(&lost));
    diesel::delete(silent).execute(db)?;
    let untold = untold_paste::table.filter(untold_paste::domain.eq_any(&lost));
    diesel::delete(untold).execute(db)?;
    let verified = domain_control::table
        .filter(domain_control::subscriber_id.eq(outbox::subscriber_id))
        .filter(domain_control::domain.nullable().eq(outbox::domain))
        .filter(domain_control::state.eq(VERIFIED));
    let waiting = outbox::table
        .filter(outbox::domain.eq_any(domains))
        .filter(outbox::sent_at.is_null())
        .filter(outbox::failed_at.is_null());
    diesel::delete(waiting.filter(not(exists(verified)))).execute(db)?;
    let named = domain_control::table
        .filter(domain_control::subscriber_id.nullable().eq(mail_token::subscriber_id))
        .filter(domain_control::domain.eq(mail_token::subject))
        .filter(domain_control::state.eq_any([VERIFIED, PENDING, NO_ROOM]));
    let links = mail_token::table
        .filter(mail_token::purpose.eq(DOMAIN_LINK))
        .filter(mail_token::subject.eq_any(domains));
    diesel::delete(links.filter(not(exists(named)))).execute(db)?;
    Ok(())
}
