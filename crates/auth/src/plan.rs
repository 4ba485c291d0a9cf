//! Plans. The service seeds them, and the operator can change them later.

use database::{DatabaseError, Db, on_backend};
use diesel::prelude::*;

use crate::schema::plan;
use crate::turn::take_turn;
use crate::{KeyError, Quota, metrics};

/// A plan, which sets the limits for its keys.
#[derive(Clone, Debug, PartialEq, Eq, Queryable)]
pub struct Plan {
    /// Short name, used in commands and by other tables.
    pub code: String,
    /// The display name.
    pub name: String,
    /// Number of requests that a key regains per minute.
    #[diesel(deserialize_as = i64)]
    pub per_minute: u32,
    /// Number of requests that a key with a full quota can make at once.
    #[diesel(deserialize_as = i64)]
    pub burst: u32,
    /// Position in lists, in ascending order.
    #[diesel(deserialize_as = i64)]
    pub position: u32,
    /// Whether the plan is no longer offered. Existing keys keep working.
    pub hidden: bool,
}

impl Plan {
    /// Upper limit for `per_minute` and `burst`. Also enforced by a constraint on the table.
    pub const MOST: u32 = 10_000_000;

    /// Creates a plan for [`seed_plans`], which fills in its position.
    pub fn new(code: &str, name: &str, per_minute: u32, burst: u32) -> Self {
        Self {
            code: code.to_owned(),
            name: name.to_owned(),
            per_minute,
            burst,
            position: 0,
            hidden: false,
        }
    }

    /// Returns the quota of each key on this plan.
    pub fn quota(&self) -> Quota {
        Quota { per_minute: self.per_minute, burst: self.burst }
    }
}

/// Changes requested by `plans set`. Fields that are `None` are left unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanChange {
    /// The display name.
    pub name: Option<String>,
    /// Number of requests that a key regains per minute.
    pub per_minute: Option<u32>,
    /// Number of requests that a key can make at once.
    pub burst: Option<u32>,
    /// Position in lists.
    pub position: Option<u32>,
    /// Whether the plan is no longer offered.
    pub hidden: Option<bool>,
}

/// Inserts a service's initial plans if the table is empty. Returns whether any were inserted.
///
/// On later starts, the table is left alone so that the operator's changes persist. Plans are
/// listed in the order of the slice. Call this in a transaction
/// ([`Pools::write_blocking`](database::Pools::write_blocking)).
///
/// # Errors
/// Returns any database error.
pub fn seed_plans(db: &mut Db, plans: &[Plan]) -> Result<bool, DatabaseError> {
    for plan in plans {
        metrics::start_plan(&plan.code);
    }
    if plan::table.count().get_result::<i64>(db)? > 0 {
        return Ok(false);
    }
    let mut inserted = 0;
    for (place, seed) in (1_u32..).zip(plans) {
        let row = row(&Plan { position: place, ..seed.clone() });
        // Another process might be inserting the same plans.
        inserted += on_backend!(db, conn => diesel::insert_into(plan::table)
            .values(&row)
            .on_conflict_do_nothing()
            .execute(conn))?;
    }
    Ok(inserted > 0)
}

/// Lists all plans in order of their positions, including hidden ones.
///
/// # Errors
/// Returns any database error.
pub fn list_plans(db: &mut Db) -> Result<Vec<Plan>, DatabaseError> {
    Ok(plan::table.order((plan::position.asc(), plan::code.asc())).load(db)?)
}

/// Returns the plan `code`, even if it is hidden.
///
/// # Errors
/// Returns any database error.
pub fn plan(db: &mut Db, code: &str) -> Result<Option<Plan>, DatabaseError> {
    Ok(plan::table.find(code).first(db).optional()?)
}

/// Changes or adds a plan, and also returns whether it was added. A new plan requires `per_minute`,
/// which is also the default for `burst`. It goes to the end of the list unless it has a position.
///
/// # Errors
/// Returns [`KeyError::Invalid`] if the code is empty, too long or contains anything but lowercase
/// letters, digits, `-` and `_`, if the name is empty or too long, or if a limit is 0 or above
/// [`Plan::MOST`]. A new plan without `per_minute` is invalid, too.
pub fn set_plan(db: &mut Db, code: &str, change: PlanChange) -> Result<(Plan, bool), KeyError> {
    take_turn(db, "plans")?;
    let old = plan(db, code)?;
    let is_new = old.is_none();
    let base = match old {
        Some(old) => old,
        None => new_plan(db, code, &change)?,
    };
    let changed = Plan {
        name: change.name.unwrap_or(base.name),
        per_minute: change.per_minute.unwrap_or(base.per_minute),
        burst: change.burst.unwrap_or(base.burst),
        position: change.position.unwrap_or(base.position),
        hidden: change.hidden.unwrap_or(base.hidden),
        code: base.code,
    };
    check(&changed)?;
    let row = row(&changed);
    if is_new {
        diesel::insert_into(plan::table).values(row).execute(db)?;
    } else {
        diesel::update(plan::table.find(code)).set(row).execute(db)?;
    }
    Ok((changed, is_new))
}

/// Hides a plan. Existing keys keep working.
///
/// # Errors
/// Returns [`KeyError::NoPlan`] if the plan doesn't exist.
pub fn hide_plan(db: &mut Db, code: &str) -> Result<(), KeyError> {
    let hidden = diesel::update(plan::table.find(code)).set(plan::hidden.eq(true)).execute(db)?;
    if hidden == 0 { Err(KeyError::NoPlan(code.to_owned())) } else { Ok(()) }
}

/// Looks up a plan for a new key, and makes sure that it is still offered.
pub(crate) fn offered(db: &mut Db, code: &str) -> Result<Plan, KeyError> {
    match plan(db, code)? {
        None => Err(KeyError::NoPlan(code.to_owned())),
        Some(plan) if plan.hidden => Err(KeyError::HiddenPlan(code.to_owned())),
        Some(plan) => Ok(plan),
    }
}

fn new_plan(db: &mut Db, code: &str, change: &PlanChange) -> Result<Plan, KeyError> {
    let per_minute = change.per_minute.ok_or_else(|| {
        KeyError::Invalid(format!("there is no plan {code}: to add it, use --per-minute"))
    })?;
    let last: Option<i64> = plan::table.select(diesel::dsl::max(plan::position)).first(db)?;
    let position = u32::try_from(last.unwrap_or(0) + 1).unwrap_or(u32::MAX);
    Ok(Plan { position, ..Plan::new(code, code, per_minute, per_minute) })
}

fn check(plan: &Plan) -> Result<(), KeyError> {
    let sign = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    let invalid = |text: &str| Err(KeyError::Invalid(text.to_owned()));
    if !(1..=40).contains(&plan.code.len()) || !plan.code.chars().all(sign) {
        return invalid("a plan code must be 1 to 40 lower-case letters, digits, - and _");
    }
    if plan.name.trim().is_empty() || plan.name.chars().count() > 100 {
        return invalid("a plan name must be 1 to 100 characters long");
    }
    if plan.per_minute == 0 || plan.burst == 0 {
        return invalid("a plan must allow at least one request");
    }
    if plan.per_minute > Plan::MOST || plan.burst > Plan::MOST {
        return invalid(
            "a plan can allow at most 10000000 requests per minute, and the same number at once",
        );
    }
    Ok(())
}

type Row = (
    diesel::dsl::Eq<plan::code, String>,
    diesel::dsl::Eq<plan::name, String>,
    diesel::dsl::Eq<plan::per_minute, i64>,
    diesel::dsl::Eq<plan::burst, i64>,
    diesel::dsl::Eq<plan::position, i64>,
    diesel::dsl::Eq<plan::hidden, bool>,
);

fn row(plan: &Plan) -> Row {
    (
        plan::code.eq(plan.code.clone()),
        plan::name.eq(plan.name.clone()),
        plan::per_minute.eq(i64::from(plan.per_minute)),
        plan::burst.eq(i64::from(plan.burst)),
        plan::position.eq(i64::from(plan.position)),
        plan::hidden.eq(plan.hidden),
    )
}
