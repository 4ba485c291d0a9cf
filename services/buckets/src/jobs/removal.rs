//! Takedowns: carried out by whoever has the right to write.

use std::time::Duration;

use database::DatabaseError;

use super::LoadError;
use super::session::{Session, Workshop};
use crate::model::address::Address;
use crate::store::removal::{self, Act, Removal};
use crate::store::{bucket, state};

/// Time between two looks at a removal that a load carries out.
const PAUSE: Duration = Duration::from_millis(200);

/// Puts an address on the removal list and waits until its files are gone.
pub fn remove(
    shop: &Workshop,
    address: &str,
    prefix: &str,
    reason: &str,
    operator: &str,
) -> Result<Removal, LoadError> {
    let address = parse(address)?;
    let act = Act { reason, operator, at: shop.clock.unix() };
    let id = shop.pools.write_blocking(|db| removal::request(db, &address, prefix, &act))?;
    let mut told = false;
    loop {
        if let Some(mut session) = Session::try_open(shop, "a removal is being carried out")? {
            carry_out_pending(&mut session)?;
        }
        let done = shop.pools.read_blocking(|db| removal::find(db, id))?;
        match done {
            Some(done) if done.applied_at.is_some() => {
                forget_older(shop)?;
                return Ok(done);
            }
            _ if !told => {
                told = true;
                log::info!("waiting for the next checkpoint of the load that is under way");
            }
            _ => {}
        }
        std::thread::sleep(PAUSE);
    }
}

/// Waits until no reader keeps a generation from before a rebuild, which still has the files.
fn forget_older(shop: &Workshop) -> Result<(), LoadError> {
    let mut told = false;
    loop {
        let generation = shop.pools.read_blocking(state::read)?.generation;
        if shop.generations.sweep(generation)? {
            return Ok(());
        }
        if !told {
            told = true;
            log::info!("waiting for the last reader of an older generation");
        }
        std::thread::sleep(PAUSE);
    }
}

/// Takes an address off the removal list; its files come back with the next load only.
pub fn unremove(
    shop: &Workshop,
    address: &str,
    reason: &str,
    operator: &str,
) -> Result<usize, LoadError> {
    let address = parse(address)?;
    let act = Act { reason, operator, at: shop.clock.unix() };
    Ok(shop.pools.write_blocking(|db| removal::lift(db, &address, &act))?)
}

/// Carries out every removal that waits; a stopped run keeps its notes.
pub fn carry_out_pending(session: &mut Session) -> Result<(), LoadError> {
    for removal in session.shop.pools.read_blocking(removal::pending)? {
        carry_out(session, &removal, None)?;
    }
    Ok(())
}

/// Deletes and purges the files of a removal, then notes that it is done.
pub fn carry_out(
    session: &mut Session,
    removal: &Removal,
    progress: Option<String>,
) -> Result<(), LoadError> {
    let files = purge(session, removal, progress)?;
    let pools = session.shop.pools.clone();
    let now = session.shop.clock.unix();
    pools.write_blocking(|db| -> Result<(), DatabaseError> {
        if removal.prefix.is_empty() {
            bucket::unlist(db, &removal.address)?;
        }
        removal::applied(db, removal.id, files, now)?;
        state::touch(db)
    })?;
    Ok(())
}

/// Deletes and purges the files of a removal; gives how many were visible.
pub fn purge(
    session: &mut Session,
    removal: &Removal,
    progress: Option<String>,
) -> Result<u64, LoadError> {
    let pools = &session.shop.pools;
    let known = pools.read_blocking(|db| bucket::by_address(db, &removal.address))?;
    let prefix = Some(removal.prefix.as_str()).filter(|prefix| !prefix.is_empty());
    match known {
        Some(bucket) => Ok(session.writer.remove(removal.id, bucket.id, prefix, progress)?),
        None => Ok(0),
    }
}

fn parse(address: &str) -> Result<String, LoadError> {
    let address = Address::parse(address);
    Ok(address.map_err(|error| LoadError::Refused(error.to_string()))?.as_str().to_owned())
}
