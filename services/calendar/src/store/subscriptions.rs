//! Subscriptions to calendars on other sites, and the leases held by their runs.

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::schema::subscriptions;
use super::sql::{self, Sql};
use crate::model::subscription::{Plan, Run, RunOutcome, Subscription, SubscriptionState};

#[derive(Queryable, Selectable)]
#[diesel(table_name = subscriptions)]
struct Row {
    id: i64,
    url: String,
    interval_minutes: i64,
    author_id: i64,
    status: String,
    category_id: Option<i64>,
    venue_id: Option<i64>,
    adopts: bool,
    state: String,
    created_utc: i64,
    next_utc: i64,
    failures: i64,
    lease_until: i64,
    requests: i64,
    etag: Option<String>,
    last_modified: Option<String>,
    imported_utc: i64,
    accepted_loss: i64,
    counted_event: i64,
    last_run: Option<String>,
}

impl From<Row> for Subscription {
    fn from(row: Row) -> Subscription {
        Subscription {
            id: row.id,
            plan: Plan {
                url: row.url,
                interval: row.interval_minutes,
                author: row.author_id,
                status: row.status,
                category: row.category_id,
                venue: row.venue_id,
                adopts: row.adopts,
            },
            state: SubscriptionState::named(&row.state).unwrap_or(SubscriptionState::Stopped),
            created_utc: row.created_utc,
            next_utc: row.next_utc,
            failures: row.failures,
            lease_until: row.lease_until,
            etag: row.etag,
            last_modified: row.last_modified,
            imported_utc: row.imported_utc,
            accepted_loss: row.accepted_loss,
            counted_event: row.counted_event,
            last_run: row.last_run.and_then(|text| serde_json::from_str(&text).ok()),
        }
    }
}

/// The columns of a subscription's settings.
#[derive(Insertable, AsChangeset)]
#[diesel(table_name = subscriptions)]
#[diesel(treat_none_as_null = true)]
#[diesel(treat_none_as_default_value = false)]
struct PlanColumns<'p> {
    url: &'p str,
    interval_minutes: i64,
    author_id: i64,
    status: &'p str,
    category_id: Option<i64>,
    venue_id: Option<i64>,
    adopts: bool,
}

impl<'p> PlanColumns<'p> {
    fn of(plan: &'p Plan) -> Self {
        Self {
            url: &plan.url,
            interval_minutes: plan.interval,
            author_id: plan.author,
            status: &plan.status,
            category_id: plan.category,
            venue_id: plan.venue,
            adopts: plan.adopts,
        }
    }
}

/// Returns all subscriptions, ordered by id.
pub fn all(db: &mut Db) -> Result<Vec<Subscription>, DatabaseError> {
    let all = subscriptions::table.order(subscriptions::id).select(Row::as_select());
    Ok(all.load(db)?.into_iter().map(Subscription::from).collect())
}

pub fn find(db: &mut Db, id: i64) -> Result<Option<Subscription>, DatabaseError> {
    let row = subscriptions::table.find(id).select(Row::as_select()).first(db).optional()?;
    Ok(row.map(Subscription::from))
}

/// Returns the id of the subscription to a URL, if any.
pub fn id_of_url(db: &mut Db, url: &str) -> Result<Option<i64>, DatabaseError> {
    let found = subscriptions::table.filter(subscriptions::url.eq(url));
    Ok(found.select(subscriptions::id).first(db).optional()?)
}

/// Adds a subscription that is immediately due. Returns its id.
pub fn add(db: &mut Db, plan: &Plan, now: i64) -> Result<i64, DatabaseError> {
    let id = diesel::insert_into(subscriptions::table)
        .values((
            PlanColumns::of(plan),
            (
                subscriptions::state.eq(SubscriptionState::Active.name()),
                subscriptions::created_utc.eq(now),
                subscriptions::next_utc.eq(now),
                subscriptions::failures.eq(0_i64),
                subscriptions::lease_until.eq(0_i64),
                subscriptions::requests.eq(0_i64),
                subscriptions::imported_utc.eq(0_i64),
                subscriptions::accepted_loss.eq(0_i64),
                subscriptions::counted_event.eq(0_i64),
            ),
        ))
        .returning(subscriptions::id)
        .get_result(db)?;
    Ok(id)
}

/// Changes a subscription's settings.
pub fn change(db: &mut Db, id: i64, plan: &Plan) -> Result<(), DatabaseError> {
    diesel::update(subscriptions::table.find(id)).set(PlanColumns::of(plan)).execute(db)?;
    Ok(())
}

/// Changes a subscription's state. A run in progress loses its lease.
pub fn set_state(db: &mut Db, id: i64, state: SubscriptionState) -> Result<(), DatabaseError> {
    diesel::update(subscriptions::table.find(id))
        .set((
            subscriptions::state.eq(state.name()),
            subscriptions::lease.eq(None::<String>),
            subscriptions::lease_until.eq(0_i64),
        ))
        .execute(db)?;
    Ok(())
}

/// Makes a subscription due. A run in progress continues, and another one follows it.
pub fn make_due(db: &mut Db, id: i64, now: i64) -> Result<(), DatabaseError> {
    let mut sql = Sql::new(db, "update subscriptions set requests = requests + 1, next_utc = ");
    sql.value(now).push(" where id = ").value(id);
    sql.execute(db).map(drop)
}

/// Makes the next run read the whole file, even if it hasn't changed. A run in progress loses its
/// lease.
pub fn forget_file(db: &mut Db, id: i64) -> Result<(), DatabaseError> {
    diesel::update(subscriptions::table.find(id))
        .set((
            subscriptions::etag.eq(None::<String>),
            subscriptions::last_modified.eq(None::<String>),
            subscriptions::lease.eq(None::<String>),
            subscriptions::lease_until.eq(0_i64),
        ))
        .execute(db)?;
    Ok(())
}

/// Makes runs read the whole file until one of them has imported it. Otherwise, the old file could
/// count as unchanged if the server returned it again after an aborted run had applied part of a
/// newer file.
pub fn forget_validators(db: &mut Db, lease: &Lease) -> Result<(), DatabaseError> {
    diesel::update(subscriptions::table.find(lease.subscription))
        .set((
            subscriptions::etag.eq(None::<String>),
            subscriptions::last_modified.eq(None::<String>),
        ))
        .execute(db)?;
    Ok(())
}

/// Sets how many future events can be missing from the next file, even if this is more than half of
/// them.
pub fn accept_loss(db: &mut Db, id: i64, lost: i64) -> Result<(), DatabaseError> {
    let found = subscriptions::table.find(id);
    diesel::update(found).set(subscriptions::accepted_loss.eq(lost)).execute(db)?;
    Ok(())
}

/// Clears the results of runs with the old address, and the number of events that can be missing
/// from the next file.
pub fn forget_address(db: &mut Db, id: i64) -> Result<(), DatabaseError> {
    accept_loss(db, id, 0)?;
    diesel::update(subscriptions::table.find(id))
        .set((
            subscriptions::imported_utc.eq(0_i64),
            subscriptions::failures.eq(0_i64),
            subscriptions::last_run.eq(None::<String>),
        ))
        .execute(db)?;
    Ok(())
}

/// Removes a subscription. Its events remain.
pub fn remove(db: &mut Db, id: i64) -> Result<(), DatabaseError> {
    diesel::delete(subscriptions::table.find(id)).execute(db)?;
    Ok(())
}

/// A replica's exclusive right to run a subscription. It expires unless renewed.
#[derive(Clone, Debug)]
pub struct Lease {
    pub subscription: i64,
    token: String,
    /// The number of requests when the run began.
    requests: i64,
}

/// Leases the subscription that has been due the longest, or returns `None` if none is due. If
/// replicas race, each subscription goes to only one of them.
pub fn claim_due(
    db: &mut Db,
    now: i64,
    until: i64,
) -> Result<Option<(Subscription, Lease)>, DatabaseError> {
    sql::one_writer(db)?;
    let runs = subscriptions::state
        .eq(SubscriptionState::Active.name())
        .or(subscriptions::state.eq(SubscriptionState::Removing.name()));
    let row: Option<Row> = subscriptions::table
        .filter(runs)
        .filter(subscriptions::next_utc.le(now).and(subscriptions::lease_until.le(now)))
        .order((subscriptions::next_utc, subscriptions::id))
        .select(Row::as_select())
        .first(db)
        .optional()?;
    lease(db, row, until)
}

/// Leases a subscription even if it isn't due. Returns `None` if it doesn't exist or is already
/// running.
pub fn claim(
    db: &mut Db,
    id: i64,
    now: i64,
    until: i64,
) -> Result<Option<(Subscription, Lease)>, DatabaseError> {
    sql::one_writer(db)?;
    let found = subscriptions::table.find(id).filter(subscriptions::lease_until.le(now));
    let row = found.select(Row::as_select()).first(db).optional()?;
    lease(db, row, until)
}

fn lease(
    db: &mut Db,
    row: Option<Row>,
    until: i64,
) -> Result<Option<(Subscription, Lease)>, DatabaseError> {
    let Some(row) = row else { return Ok(None) };
    let token = sql::random_id(db)?;
    diesel::update(subscriptions::table.find(row.id))
        .set((subscriptions::lease.eq(&token), subscriptions::lease_until.eq(until)))
        .execute(db)?;
    let lease = Lease { subscription: row.id, token, requests: row.requests };
    Ok(Some((Subscription { lease_until: until, ..Subscription::from(row) }, lease)))
}

/// Renews a lease. Returns false if the lease was lost because another replica took over or an
/// editor changed the subscription.
pub fn renew(db: &mut Db, lease: &Lease, until: i64) -> Result<bool, DatabaseError> {
    let own =
        subscriptions::table.find(lease.subscription).filter(subscriptions::lease.eq(&lease.token));
    Ok(diesel::update(own).set(subscriptions::lease_until.eq(until)).execute(db)? > 0)
}

/// How a run ended.
#[derive(Clone, Debug, Default)]
pub struct Finish {
    pub run: Run,
    /// When the next run is due.
    pub next_utc: i64,
    pub failures: i64,
    /// If the subscription stops, the id of the newest event when the missing events were counted.
    pub counted_event: i64,
    /// The new URL after a permanent redirect.
    pub url: Option<String>,
    /// The ETag and `Last-Modified` of the imported file, or `None` if nothing was imported.
    pub imported: Option<(Option<String>, Option<String>)>,
}

/// Records the end of a run and releases its lease. Returns false if the lease was lost.
pub fn finish(db: &mut Db, lease: &Lease, finish: &Finish) -> Result<bool, DatabaseError> {
    let now = finish.run.at;
    if !renew(db, lease, now)? {
        return Ok(false);
    }
    let id = lease.subscription;
    let (due, requests): (i64, i64) = subscriptions::table
        .find(id)
        .select((subscriptions::next_utc, subscriptions::requests))
        .first(db)?;
    // An editor might have requested another run during this one.
    let is_requested = requests != lease.requests;
    let next_utc = if is_requested { due.min(finish.next_utc) } else { finish.next_utc };
    let run = serde_json::to_string(&finish.run).map_err(DatabaseError::broken)?;
    let stops = finish.run.outcome == RunOutcome::Stopped;
    diesel::update(subscriptions::table.find(id))
        .set((
            subscriptions::lease.eq(None::<String>),
            subscriptions::lease_until.eq(0_i64),
            subscriptions::next_utc.eq(next_utc),
            subscriptions::failures.eq(finish.failures),
            subscriptions::last_run.eq(run),
            stops.then(|| {
                (
                    subscriptions::state.eq(SubscriptionState::Stopped.name()),
                    subscriptions::counted_event.eq(finish.counted_event),
                )
            }),
        ))
        .execute(db)?;
    if stops || finish.imported.is_some() {
        // An editor's acceptance only applies to a single file.
        accept_loss(db, id, 0)?;
    }
    if let Some((etag, last_modified)) = &finish.imported {
        diesel::update(subscriptions::table.find(id))
            .set((
                subscriptions::etag.eq(etag),
                subscriptions::last_modified.eq(last_modified),
                subscriptions::imported_utc.eq(now),
            ))
            .execute(db)?;
    }
    if let Some(url) = &finish.url
        && id_of_url(db, url)?.is_none()
    {
        let found = subscriptions::table.find(id);
        diesel::update(found).set(subscriptions::url.eq(url)).execute(db)?;
    }
    Ok(true)
}

/// Number of consecutive failures before metrics count a subscription as failing. With fewer
/// failures, a site might just be down for a while.
const REPEATED: i64 = 3;

/// Subscription counts for metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    pub active: i64,
    /// Active subscriptions that failed at least [`REPEATED`] times in a row. They don't count as
    /// `active`.
    pub failing: i64,
    pub paused: i64,
    pub stopped: i64,
}

pub fn numbers(db: &mut Db) -> Result<Numbers, DatabaseError> {
    let mut count = |condition: &str| {
        let text = format!("select count(*) as n from subscriptions where {condition}");
        Sql::new(db, &text).number(db)
    };
    Ok(Numbers {
        active: count(&format!("state = 'active' and failures < {REPEATED}"))?,
        failing: count(&format!("state = 'active' and failures >= {REPEATED}"))?,
        paused: count("state = 'paused'")?,
        stopped: count("state = 'stopped'")?,
    })
}
