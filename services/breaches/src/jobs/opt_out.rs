//! What an owner's choice does to the stored data.

use database::Db;
use domain::EmailAddress;

use super::JobError;
use crate::model::{OptOut, id_list};
use crate::store::{account, account_write, admin_event, breach, meta, opt_out, stealer_log};

/// Carries out a choice: hides an address, or removes what is held of it.
pub fn choose(
    db: &mut Db,
    address: &EmailAddress,
    choice: OptOut,
    now: i64,
) -> Result<(), JobError> {
    meta::lock_accounts(db)?;
    opt_out::set(db, &address.sha1(), Some(choice), now)?;
    if choice != OptOut::Public {
        remove_all(db, address)?;
    }
    let detail = format!("kind {}", choice.kind());
    admin_event::add(db, now, "address opt-out", "an address", &detail)?;
    Ok(())
}

/// Takes back a public opt-out; what other kinds removed cannot come back.
pub fn take_back(db: &mut Db, address: &EmailAddress, now: i64) -> Result<(), JobError> {
    meta::lock_accounts(db)?;
    match opt_out::get(db, &address.sha1())? {
        Some(OptOut::Public) => {}
        Some(_) => return Err(JobError::Refused("only kind 1 can be taken back".into())),
        None => return Err(JobError::Refused("the address is not opted out".into())),
    }
    opt_out::set(db, &address.sha1(), None, now)?;
    admin_event::add(db, now, "address opt-in", "an address", "")?;
    Ok(())
}

/// Unlinks an address from one breach; whether it was linked.
pub fn unlink(
    db: &mut Db,
    address: &EmailAddress,
    breach: u16,
    now: i64,
) -> Result<bool, JobError> {
    meta::lock_accounts(db)?;
    let Some(row) = account::find(db, address)? else { return Ok(false) };
    let place = (row.k, row.seq);
    stealer_log::remove_of(db, place, breach)?;
    let Some(shorter) = id_list::without(&row.breaches, breach) else { return Ok(false) };
    account_write::set_list(db, place, &shorter)?;
    breach::add_loaded(db, breach, -1)?;
    meta::bump_catalogue(db, now)?;
    admin_event::add(db, now, "address remove", "an address", &format!("breach {breach}"))?;
    Ok(true)
}

fn remove_all(db: &mut Db, address: &EmailAddress) -> Result<(), JobError> {
    if let Some(row) = account::find(db, address)? {
        for id in id_list::ids(&row.breaches) {
            breach::add_loaded(db, id, -1)?;
        }
        account_write::remove(db, (row.k, row.seq))?;
    }
    Ok(())
}
