//! Contents of a new database: plans and test accounts.

use database::{DatabaseError, Db};
use domain::EmailAddress;

use super::context::JobContext;
use super::error::JobError;
use crate::model::{Breach, OptOut, plan, test_data};
use crate::store::{
    account_links, admin_events, breaches, mail_domains, opt_outs, pastes, plan_features,
    stealer_logs, versions,
};

/// Populates a new database. Existing ones are left alone.
pub fn first_start(context: &JobContext) -> Result<(), JobError> {
    // Every command calls this, but only the first one should need the write lock.
    if context.pools.read_blocking(|db| versions::get(db, versions::SEEDED_AT))?.is_some() {
        return Ok(());
    }
    let now = context.clock.unix();
    context.pools.write_blocking(|db| {
        versions::lock_accounts(db)?;
        if !versions::set_once(db, versions::SEEDED_AT, now)? {
            return Ok(());
        }
        seed_plans(db)?;
        if context.settings.seed_test_data {
            add_test_data(db, context, false, now)?;
        }
        Ok(())
    })
}

/// Adds the plans on the price list, unless there are any plans already.
fn seed_plans(db: &mut Db) -> Result<(), DatabaseError> {
    let plans = plan::seed();
    let rates: Vec<auth::Plan> = plans
        .iter()
        .map(|plan| {
            let rpm = u32::try_from(plan.per_minute).unwrap_or(1);
            auth::Plan::new(&plan.code, &plan.name, rpm, rpm)
        })
        .collect();
    if auth::seed_plans(db, &rates)? {
        for plan in &plans {
            plan_features::set(db, &plan.code, &plan.features)?;
        }
    }
    Ok(())
}

/// `seed-test`: creates the test accounts, replacing any that exist.
pub fn seed_test(context: &JobContext, use_catalogue: bool) -> Result<(), JobError> {
    let now = context.clock.unix();
    context.pools.write_blocking(|db| {
        versions::lock_accounts(db)?;
        remove_accounts(db, context, now)?;
        add_test_data(db, context, use_catalogue, now)?;
        admin_events::add(db, now, "seed-test", "test accounts", "made")?;
        Ok(())
    })
}

/// `seed-test --remove`: deletes the test accounts, along with fixture breaches that have no other
/// accounts.
pub fn remove_test(context: &JobContext) -> Result<(), JobError> {
    let now = context.clock.unix();
    context.pools.write_blocking(|db| {
        versions::lock_accounts(db)?;
        remove_accounts(db, context, now)?;
        for fixture in test_data::fixtures() {
            if let Some(old) = breaches::by_name(db, &fixture.name)?
                && old.loaded_count == 0
            {
                breaches::delete(db, old.id)?;
            }
        }
        versions::bump_catalogue(db, now)?;
        admin_events::add(db, now, "seed-test", "test accounts", "removed")?;
        Ok(())
    })
}

fn address(alias: &str, context: &JobContext) -> Result<EmailAddress, JobError> {
    let text = format!("{alias}@{}", context.settings.test_email_domain);
    EmailAddress::parse(&text)
        .map_err(|error| JobError::Rejected(format!("TEST_EMAIL_DOMAIN: {error}")))
}

fn add_test_data(
    db: &mut Db,
    context: &JobContext,
    use_catalogue: bool,
    now: i64,
) -> Result<(), JobError> {
    let mut ids = Vec::new();
    for fixture in test_data::fixtures() {
        let name = fixture.name.clone();
        ids.push((name, representative(db, fixture, use_catalogue)?));
    }
    let id_of = |name: &str| ids.iter().find(|(fixture, _)| fixture == name).map(|(_, id)| *id);
    for account in test_data::ACCOUNTS {
        let address = address(account.alias, context)?;
        if let Some(choice) = account.opt_out {
            opt_outs::set(db, &address.sha1(), Some(choice), now)?;
        }
        if account.opt_out == Some(OptOut::Breaches) {
            continue;
        }
        for breach in account.breaches.iter().filter_map(|name| id_of(name)) {
            if account_links::link_one(db, &address, breach)? {
                breaches::add_loaded(db, breach, 1)?;
            }
        }
        let row = account_links::ensure(db, &address)?;
        if account.pasted {
            let paste_id = pastes::upsert(db, &test_data::paste())?;
            let link = pastes::PasteAccount { k: row.k, seq: row.seq, paste_id };
            pastes::add_accounts(db, &[link])?;
        }
        if account.captured {
            let breach = account.breaches.first().and_then(|name| id_of(name));
            add_pair(db, context, (row.k, row.seq), breach)?;
        }
    }
    versions::bump_catalogue(db, now)?;
    Ok(())
}

fn add_pair(
    db: &mut Db,
    context: &JobContext,
    (k, seq): (i64, i16),
    breach: Option<u16>,
) -> Result<(), DatabaseError> {
    let website = test_data::website(context.settings.test_email_domain.as_str());
    let ids = mail_domains::ids(db, &[&website])?;
    let website_id = ids.get(&website).copied().ok_or(DatabaseError::NotFound)?;
    let breach_id = i32::from(breach.ok_or(DatabaseError::NotFound)?);
    stealer_logs::add(db, &[stealer_logs::NewPair { k, seq, website_id, breach_id }])?;
    Ok(())
}

/// Returns the id of the breach that represents a fixture. That's either the fixture itself or a
/// catalogue entry with the same flags.
fn representative(db: &mut Db, fixture: Breach, use_catalogue: bool) -> Result<u16, DatabaseError> {
    if use_catalogue {
        let known = match fixture.name.as_str() {
            "Acmegram" => Some("Adobe"),
            "Borealis" => Some("Gawker"),
            "Cobaltbay" => Some("Stratfor"),
            _ => None,
        };
        if let Some(name) = known {
            if let Some(found) = breaches::by_name(db, name)? {
                return Ok(found.id);
            }
        } else if let Some(found) = same_flags(db, &fixture)? {
            return Ok(found.id);
        }
    }
    match breaches::by_name(db, &fixture.name)? {
        Some(old) => Ok(old.id),
        None => breaches::insert(db, &fixture),
    }
}

fn same_flags(db: &mut Db, fixture: &Breach) -> Result<Option<Breach>, DatabaseError> {
    let fixtures: Vec<String> =
        test_data::fixtures().into_iter().map(|breach| breach.name).collect();
    let mut listed: Vec<Breach> = breaches::all(db)?;
    listed.retain(|breach| {
        breach.active == fixture.active
            && breach.flags == fixture.flags
            && !fixtures.contains(&breach.name)
    });
    listed.sort_by_cached_key(|breach| (breach.title.to_lowercase(), breach.name.clone()));
    Ok(listed.into_iter().next())
}

fn remove_accounts(db: &mut Db, context: &JobContext, now: i64) -> Result<(), JobError> {
    for account in test_data::ACCOUNTS {
        let address = address(account.alias, context)?;
        if let Some(row) = account_links::find_merged(db, &address)? {
            for id in crate::model::id_list::ids(&row.breaches) {
                breaches::add_loaded(db, id, -1)?;
            }
            account_links::remove(db, (row.k, row.seq))?;
        }
        if opt_outs::get(db, &address.sha1())?.is_some() {
            opt_outs::set(db, &address.sha1(), None, now)?;
        }
    }
    let test = test_data::paste();
    pastes::remove(db, &test.source, &test.id)?;
    Ok(())
}
