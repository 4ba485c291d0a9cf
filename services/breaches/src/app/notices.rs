//! Posts notices. When the catalogue changes, subscribers' addresses and verified domains are
//! compared with the notices posted so far.
//!
//! Each message is recorded in the same transaction that posts it, so it isn't posted again after a
//! load is resumed or the server restarts.

use std::collections::BTreeMap;

use database::{DatabaseError, Db};
use domain::EmailAddress;

use super::domain_count::DomainCount;
use crate::error::Error;
use crate::model::notice::{Notice, Recipient};
use crate::model::{Breach, Catalogue, OptOut, id_list, paste as paste_rules};
use crate::store::notices::{self, BREACH, PASTE};
use crate::store::{
    accounts, domain_controls, messages, opt_outs, pastes, subscribers, turns, untold_pastes,
    versions, webhooks,
};

/// Maximum number of pastes listed in a message about a domain.
const LISTED_PASTES: i64 = 20;

/// Breaches and pastes that the owner of an address is allowed to see.
struct Exposed {
    breaches: Vec<u16>,
    /// (number, source, id)
    pastes: Vec<(i64, String, String)>,
}

fn exposed(
    db: &mut Db,
    catalogue: &Catalogue,
    address: &EmailAddress,
) -> Result<Exposed, DatabaseError> {
    let mut found = Exposed { breaches: Vec::new(), pastes: Vec::new() };
    if opt_outs::get(db, &address.sha1())? == Some(OptOut::Breaches) {
        return Ok(found);
    }
    let Some(row) = accounts::find(db, address)? else { return Ok(found) };
    let shown = |id: &u16| catalogue.by_id(*id).is_some_and(Breach::shown_for_domain);
    found.breaches = id_list::ids(&row.breaches).filter(shown).collect();
    for (number, paste) in pastes::numbered_of_account(db, (row.k, row.seq))? {
        if !paste_rules::is_opt_out_mark(&paste.source) {
            found.pastes.push((number, paste.source, paste.id));
        }
    }
    Ok(found)
}

/// Records existing breaches and pastes when notices are turned on, so that only later ones are
/// announced.
///
/// # Errors
/// Returns an error if a query fails.
pub fn begin(
    db: &mut Db,
    catalogue: &Catalogue,
    subscriber: i64,
    address: &EmailAddress,
) -> Result<(), DatabaseError> {
    let known = exposed(db, catalogue, address)?;
    let breaches: Vec<i64> = known.breaches.iter().map(|id| i64::from(*id)).collect();
    let pastes: Vec<i64> = known.pastes.iter().map(|(number, ..)| *number).collect();
    notices::record(db, subscriber, BREACH, &breaches)?;
    notices::record(db, subscriber, PASTE, &pastes)
}

/// Posts new notices for a batch of subscribers.
///
/// # Errors
/// Returns an error if a query fails.
pub fn post_listener_notices(
    db: &mut Db,
    catalogue: &Catalogue,
    listeners: &[(i64, String)],
    now: i64,
) -> Result<(), DatabaseError> {
    // Without this lock, a removal that commits at the same time would miss these messages and
    // records.
    versions::lock_accounts(db)?;
    for (subscriber, email) in listeners {
        let Ok(address) = EmailAddress::parse(email) else { continue };
        let found = exposed(db, catalogue, &address)?;
        let recipient = Recipient::mail(*subscriber);
        let recorded = notices::recorded(db, *subscriber, BREACH)?;
        let mut new = Vec::new();
        for id in found.breaches.into_iter().filter(|id| !recorded.contains(&i64::from(*id))) {
            let Some(breach) = catalogue.by_id(id) else { continue };
            let notice = Notice::Breach { breach: breach.name.clone() };
            messages::post(db, &breach_key(id, *subscriber), recipient, &notice, now)?;
            new.push(i64::from(id));
        }
        notices::record(db, *subscriber, BREACH, &new)?;
        let recorded = notices::recorded(db, *subscriber, PASTE)?;
        let mut new = Vec::new();
        for (number, source, id) in
            found.pastes.into_iter().filter(|row| !recorded.contains(&row.0))
        {
            let notice = Notice::Paste { source, id };
            messages::post(db, &format!("paste {number} {subscriber}"), recipient, &notice, now)?;
            new.push(number);
        }
        notices::record(db, *subscriber, PASTE, &new)?;
    }
    Ok(())
}

/// Returns the deduplication key of the message to a subscriber whose own address is in a breach.
pub fn breach_key(breach: u16, subscriber: i64) -> String {
    format!("breach {breach} {subscriber}")
}

/// Records a domain's existing links when it's verified, so that only later ones are announced.
/// Does nothing if the domain already has another controller.
///
/// # Errors
/// Returns an error if a query fails.
pub fn begin_domain(
    db: &mut Db,
    domain: &str,
    count: &DomainCount,
    now: i64,
) -> Result<(), DatabaseError> {
    if !take_turn(db, domain)? {
        return Ok(());
    }
    match notices::counted(db, domain)? {
        Some(_) => Ok(()),
        None => notices::set_counted(db, domain, &rows(&count.announced), now),
    }
}

/// Ensures that only one transaction at a time compares a domain with its last count. Returns
/// `false` if the domain no longer has a controller. Nothing may be recorded in that case.
fn take_turn(db: &mut Db, domain: &str) -> Result<bool, DatabaseError> {
    turns::take_notices(db, &[domain])?;
    Ok(!domain_controls::verified_among(db, &[domain])?.is_empty())
}

fn rows(counts: &BTreeMap<i32, i64>) -> Vec<(i32, i64)> {
    counts.iter().map(|(id, count)| (*id, *count)).collect()
}

/// Compares a domain with its last count and notifies its controllers of new addresses. The first
/// count doesn't trigger notices.
///
/// # Errors
/// Returns an error if a query fails.
pub fn post_domain_notices(
    db: &mut Db,
    catalogue: &Catalogue,
    domain: &str,
    counts: &BTreeMap<i32, i64>,
    now: i64,
) -> Result<(), Error> {
    if !take_turn(db, domain)? {
        return Ok(());
    }
    let Some(before) = notices::counted(db, domain)? else {
        return Ok(notices::set_counted(db, domain, &rows(counts), now)?);
    };
    let before: BTreeMap<i32, i64> = before.into_iter().collect();
    let breach = |id: &i32| u16::try_from(*id).ok().and_then(|id| catalogue.by_id(id));
    // If a breach is hidden or this replica doesn't know it yet, its record is kept. Otherwise, it
    // would be announced again when it reappears.
    let mut recorded = before.clone();
    recorded.retain(|id, _| !breach(id).is_some_and(Breach::shown_for_domain));
    recorded.extend(counts);
    if before == recorded {
        return Ok(());
    }
    for (id, count) in counts {
        let new = count - before.get(id).copied().unwrap_or(0);
        if let (true, Some(breach)) = (new > 0, breach(id)) {
            post_domain(db, (catalogue.version, *count), domain, breach, new, now)?;
        }
    }
    Ok(notices::set_counted(db, domain, &rows(&recorded), now)?)
}

fn post_domain(
    db: &mut Db,
    (version, count): (i64, i64),
    domain: &str,
    breach: &Breach,
    new_accounts: i64,
    now: i64,
) -> Result<(), DatabaseError> {
    let notice = Notice::Domain {
        domain: domain.to_owned(),
        breach: breach.name.clone(),
        new_accounts,
        catalogue_version: version,
    };
    // A failed round is repeated with the same version, and may find more this time.
    let key = format!("domain {domain} {} {version} {count}", breach.id);
    post_to_controllers(db, domain, &key, &notice, now)
}

/// Posts notices about pastes with new addresses at verified domains. Runs in the final transaction
/// of a paste load.
///
/// # Errors
/// Returns an error if a query fails.
pub fn post_paste_notices(db: &mut Db, job: i64, now: i64) -> Result<(), DatabaseError> {
    for domain in untold_pastes::domains(db)? {
        let (last, count) = untold_pastes::of_domain(db, &domain, LISTED_PASTES)?;
        let notice = Notice::DomainPastes { domain: domain.clone(), count, last };
        post_to_controllers(db, &domain, &format!("pastes {job} {domain}"), &notice, now)?;
    }
    untold_pastes::clear(db)
}

/// Notifies a domain's controllers, and their webhooks, unless their subscription has ended.
fn post_to_controllers(
    db: &mut Db,
    domain: &str,
    key: &str,
    notice: &Notice,
    now: i64,
) -> Result<(), DatabaseError> {
    for subscriber in domain_controls::controllers(db, domain)? {
        if subscribers::has_ended(db, subscriber, now)? {
            continue;
        }
        let key = format!("{key} {subscriber}");
        messages::post(db, &key, Recipient::mail(subscriber), notice, now)?;
        for webhook in webhooks::of_subscriber(db, subscriber)? {
            let (key, id) = (format!("{key} {}", webhook.id), webhook.id);
            messages::post(db, &key, Recipient::webhook(subscriber, id), notice, now)?;
        }
    }
    Ok(())
}
