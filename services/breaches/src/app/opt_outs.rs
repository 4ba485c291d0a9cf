//! Opt-outs: emailed links to the choices, and the effect of each choice on the owner's data.

use std::collections::BTreeSet;
use std::net::IpAddr;

use database::Db;
use domain::EmailAddress;

use super::mail_links::{self, Purpose};
use super::mails;
use super::notices::breach_key;
use super::operator_error::OperatorError;
use crate::error::Error;
use crate::metrics;
use crate::model::{AccountKey, OptOut, id_list};
use crate::state::State;
use crate::store::{
    account_links, admin_events, breaches, cluster, domain_controls, jobs, mail_domains,
    mail_tokens, messages, notices, opt_outs, sessions, stealer_logs, subscribers,
    suppressed_links, turns, unused_domains, versions,
};

/// Hides an address or removes its data, in one transaction. If [`OptOut::Breaches`] was chosen
/// before, the address still isn't loaded again, regardless of the new choice. Unfinished loads
/// skip a removed address.
pub fn opt_out(
    db: &mut Db,
    address: &EmailAddress,
    choice: OptOut,
    now: i64,
) -> Result<(), OperatorError> {
    versions::lock_accounts(db)?;
    let kept = match opt_outs::get(db, &address.sha1())? {
        Some(OptOut::Breaches) => OptOut::Breaches,
        _ => choice,
    };
    opt_outs::set(db, &address.sha1(), Some(kept), now)?;
    if kept == OptOut::Delete {
        jobs::exclude(db, &address.sha1(), None)?;
    }
    if choice != OptOut::Public {
        cluster::complete_commits_of(db, AccountKey::of(&address.sha1()).0)?;
        remove_all(db, address)?;
        forget_owner(db, address, choice)?;
    }
    let detail = format!("kind {}", choice.kind());
    admin_events::add(db, now, "address opt-out", "an address", &detail)?;
    Ok(())
}

/// Undoes a public opt-out. Other choices can't be undone because the data is gone.
pub fn opt_in(db: &mut Db, address: &EmailAddress, now: i64) -> Result<(), OperatorError> {
    versions::lock_accounts(db)?;
    match opt_outs::get(db, &address.sha1())? {
        Some(OptOut::Public) => {}
        Some(_) => {
            return Err(OperatorError::Rejected("only a public opt-out can be reverted".into()));
        }
        None => return Err(OperatorError::Rejected("the address is not opted out".into())),
    }
    opt_outs::set(db, &address.sha1(), None, now)?;
    admin_events::add(db, now, "address opt-in", "an address", "")?;
    Ok(())
}

/// Unlinks an address from a breach, and deletes any record or message that mentions the link.
/// Unfinished loads don't add the link again. Returns whether anything was removed from the account.
pub fn remove_link(
    db: &mut Db,
    address: &EmailAddress,
    breach: u16,
    now: i64,
) -> Result<bool, OperatorError> {
    let key = AccountKey::of(&address.sha1());
    versions::lock_accounts(db)?;
    cluster::complete_commits_of(db, key.0)?;
    jobs::exclude(db, &address.sha1(), Some(breach))?;
    jobs::forget_key(db, key.0)?;
    if let Some(subscriber) = subscribers::id(db, address)? {
        turns::take_subscriber(db, subscriber)?;
        notices::forget_breach(db, subscriber, breach)?;
        messages::forget_key(db, &breach_key(breach, subscriber))?;
    }
    let Some(row) = account_links::find_merged(db, address)? else { return Ok(false) };
    let place = (row.k, row.seq);
    let websites = stealer_logs::websites(db, place)?;
    let pairs = stealer_logs::remove_of(db, place, breach)?;
    match id_list::without(&row.breaches, breach) {
        Some(shorter) => {
            note_removed(db, address, &[breach])?;
            account_links::shorten(db, place, &shorter)?;
            breaches::add_loaded(db, breach, -1)?;
        }
        None if pairs == 0 => return Ok(false),
        None => account_links::shorten(db, place, &row.breaches)?,
    }
    remove_domains(db, address, &websites)?;
    versions::bump_catalogue(db, now)?;
    let detail = format!("breach {}", breaches::name(db, breach)?);
    admin_events::add(db, now, "address remove", "an address", &detail)?;
    Ok(true)
}

fn remove_all(db: &mut Db, address: &EmailAddress) -> Result<(), OperatorError> {
    jobs::forget_key(db, AccountKey::of(&address.sha1()).0)?;
    let mut websites = Vec::new();
    if let Some(row) = account_links::find_merged(db, address)? {
        websites = stealer_logs::websites(db, (row.k, row.seq))?;
        let ids: Vec<u16> = id_list::ids(&row.breaches).collect();
        note_removed(db, address, &ids)?;
        for id in ids {
            breaches::add_loaded(db, id, -1)?;
        }
        account_links::remove(db, (row.k, row.seq))?;
    }
    remove_domains(db, address, &websites)
}

/// Corrects a verified domain's counts after an address is removed. Otherwise, the next address
/// added to one of its breaches would leave the count unchanged, and the domain's controllers
/// wouldn't be notified of it.
fn note_removed(
    db: &mut Db,
    address: &EmailAddress,
    breaches: &[u16],
) -> Result<(), OperatorError> {
    let domain = address.domain();
    if domain_controls::verified_among(db, &[domain])?.is_empty() {
        return Ok(());
    }
    let removed = breaches.iter().map(|id| ((domain, *id), -1)).collect();
    Ok(suppressed_links::add(db, &removed)?)
}

/// Removes the names of the address's domain and of the websites where it was captured, unless
/// they're still used.
fn remove_domains(
    db: &mut Db,
    address: &EmailAddress,
    websites: &[(String, i32)],
) -> Result<(), OperatorError> {
    let websites: BTreeSet<&str> = websites.iter().map(|(name, _)| name.as_str()).collect();
    for name in websites.into_iter().chain([address.domain()]) {
        if let Some(id) = mail_domains::id(db, name)? {
            unused_domains::remove_if_unused(db, id)?;
        }
    }
    Ok(())
}

/// Deletes the owner's email links, notice records and pending notices. Also deletes the
/// subscriber, unless more than an address is stored about them. With [`OptOut::Delete`],
/// subscribers who asked for notices are kept as well, because they will still get them.
fn forget_owner(db: &mut Db, address: &EmailAddress, choice: OptOut) -> Result<(), OperatorError> {
    mail_tokens::forget_address(db, address.as_str())?;
    let Some(subscriber) = subscribers::id(db, address)? else { return Ok(()) };
    turns::take_subscriber(db, subscriber)?;
    notices::forget_recorded(db, subscriber)?;
    messages::forget_own(db, subscriber)?;
    let is_listening = choice == OptOut::Delete && subscribers::notifies(db, subscriber)?;
    if !is_listening && subscribers::is_bare(db, subscriber, address.as_str())? {
        subscribers::remove(db, subscriber)?;
        admin_events::forget(db, address.as_str())?;
    }
    Ok(())
}

/// Emails a link to the opt-out choices.
///
/// # Errors
/// [`Error::Email`], [`Error::TooMany`] or [`Error::Unavailable`].
pub async fn ask_for_opt_out(
    state: &State,
    client: IpAddr,
    address: &EmailAddress,
) -> Result<(), Error> {
    mail_links::send(state, client, address, Purpose::OptOut, mails::opt_out).await
}

/// Returns the address a valid link was sent to, without using up the link.
///
/// # Errors
/// Returns an error if the query fails.
pub async fn opt_out_link(state: &State, link: &str) -> Result<Option<String>, Error> {
    mail_links::look(state, link, Purpose::OptOut).await
}

/// Uses up a link and applies the owner's choice. Returns the address if the link was valid. If the
/// data is deleted, all of the owner's sessions end.
///
/// # Errors
/// Returns an error if a query fails.
pub async fn choose_opt_out(
    state: &State,
    link: &str,
    choice: OptOut,
) -> Result<Option<String>, Error> {
    // A made-up link must not wait for the lock below, since anyone can send one.
    if opt_out_link(state, link).await?.is_none() {
        return Ok(None);
    }
    let (link, now) = (link.to_owned(), state.clock().unix());
    let choose = move |db: &mut Db| -> Result<Option<String>, Error> {
        // Do this before locking the link, because another choice for the same address deletes all
        // of its links.
        versions::lock_accounts(db)?;
        let used = mail_links::use_up(db, &link, Purpose::OptOut, now)?;
        let Some(address) = used else { return Ok(None) };
        opt_out(db, &address, choice, now)?;
        if choice == OptOut::Delete
            && let Some(id) = subscribers::id(db, &address)?
        {
            sessions::end_all(db, id)?;
        }
        Ok(Some(address.to_string()))
    };
    let address = state.pools().write(choose).await?;
    if address.is_some() {
        metrics::count_opt_out(choice);
    }
    Ok(address)
}
