//! Lets subscribers turn notices on and off.

use std::net::IpAddr;

use database::{DatabaseError, Db};
use domain::EmailAddress;

use super::context::RequestContext;
use super::mail_links::{self, Purpose, Topic};
use super::monthly_reports::change_monthly_report;
use super::{mails, notices};
use crate::error::Error;
use crate::state::State;
use crate::store::{domain_controls, messages, subscribers, turns};

/// Emails a link to confirm notices.
///
/// # Errors
/// [`Error::Email`], [`Error::TooMany`] or [`Error::Unavailable`].
pub async fn ask_for_notices(
    state: &State,
    client: IpAddr,
    address: &EmailAddress,
) -> Result<(), Error> {
    mail_links::send(state, client, address, Purpose::Notices, mails::confirm_notices).await
}

/// Returns the address a valid link would confirm, without using up the link.
///
/// # Errors
/// Returns an error if the query fails.
pub async fn wants_notices(state: &State, link: &str) -> Result<Option<String>, Error> {
    mail_links::look(state, link, Purpose::Notices).await
}

/// Uses up a link and turns on notices for its address. Returns the address if the link was valid.
///
/// # Errors
/// Returns an error if a query fails.
pub async fn confirm_notices(state: &State, link: &str) -> Result<Option<String>, Error> {
    let (link, context) = (link.to_owned(), RequestContext::new(state));
    let confirm = move |db: &mut Db| -> Result<Option<String>, DatabaseError> {
        let now = context.now;
        let used = mail_links::use_up(db, &link, Purpose::Notices, now)?;
        let Some(address) = used else { return Ok(None) };
        let id = subscribers::ensure(db, &address, now)?;
        subscribers::confirm(db, id, now)?;
        begin_notices(db, &context, id, &address)?;
        Ok(Some(address.to_string()))
    };
    Ok(state.pools().write(confirm).await?)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsubscribed {
    /// Notices about this address.
    Address(String),
    /// All emails about this domain.
    Domain(String),
    /// The monthly email about this domain.
    Reports(String),
}

/// Turns off the emails that the link is about. Returns `None` if the link isn't valid.
///
/// # Errors
/// Returns an error if a query fails.
pub async fn unsubscribe(state: &State, link: &str) -> Result<Option<Unsubscribed>, Error> {
    let (link, now) = (link.to_owned(), state.clock().unix());
    let end = move |db: &mut Db| -> Result<Option<Unsubscribed>, DatabaseError> {
        Ok(match mail_links::unsubscribes(db, &link, now)? {
            None => None,
            Some((subscriber, Topic::Domain(domain))) => {
                messages::drop_domain_mails(db, subscriber, &domain)?;
                domain_controls::set_notify(db, subscriber, &domain, false)?;
                change_monthly_report(db, subscriber, &domain, false, now)?;
                Some(Unsubscribed::Domain(domain))
            }
            Some((subscriber, Topic::Reports(domain))) => {
                change_monthly_report(db, subscriber, &domain, false, now)?;
                Some(Unsubscribed::Reports(domain))
            }
            Some((subscriber, Topic::Own)) => {
                end_notices(db, subscriber)?;
                Some(Unsubscribed::Address(subscribers::email(db, subscriber)?))
            }
        })
    };
    Ok(state.pools().write(end).await?)
}

/// Lists a subscriber's verified domains with emails turned off.
///
/// # Errors
/// Returns an error if the query fails.
pub async fn silent_domains(state: &State, subscriber: i64) -> Result<Vec<String>, Error> {
    let all = move |db: &mut Db| domain_controls::all_verified(db, subscriber);
    let all = state.pools().read(all).await?;
    Ok(all.into_iter().filter(|control| !control.notify).map(|control| control.domain).collect())
}

/// Turns emails about a subscriber's domain back on.
///
/// # Errors
/// Returns an error if the query fails.
pub async fn resume_domain(state: &State, subscriber: i64, domain: &str) -> Result<(), Error> {
    let domain = domain.to_owned();
    let resume = move |db: &mut Db| domain_controls::set_notify(db, subscriber, &domain, true);
    Ok(state.pools().write(resume).await?)
}

/// Turns on a subscriber's notices. Exposures that already exist aren't announced. Does nothing if
/// notices are already on.
fn begin_notices(
    db: &mut Db,
    context: &RequestContext,
    subscriber: i64,
    address: &EmailAddress,
) -> Result<(), DatabaseError> {
    // Without this lock, a removal that commits at the same time would miss these records.
    turns::take_subscriber(db, subscriber)?;
    if subscribers::notifies(db, subscriber)? {
        return Ok(());
    }
    notices::begin(db, context.catalogue(), subscriber, address)?;
    subscribers::set_notify(db, subscriber, true)
}

/// Turns off notices about the subscriber's own address and drops pending ones.
fn end_notices(db: &mut Db, subscriber: i64) -> Result<(), DatabaseError> {
    messages::drop_own(db, subscriber)?;
    subscribers::set_notify(db, subscriber, false)
}

/// Returns `true` if the subscriber's notices are on.
///
/// # Errors
/// Returns an error if the query fails.
pub async fn notifies(state: &State, subscriber: i64) -> Result<bool, Error> {
    Ok(state.pools().read(move |db| subscribers::notifies(db, subscriber)).await?)
}

/// Turns a subscriber's notices on or off.
///
/// # Errors
/// Returns an error if a query fails.
pub async fn set_notify(state: &State, subscriber: i64, notify: bool) -> Result<(), Error> {
    let context = RequestContext::new(state);
    let change = move |db: &mut Db| -> Result<(), DatabaseError> {
        if !notify {
            return end_notices(db, subscriber);
        }
        let email = subscribers::email(db, subscriber)?;
        let address = EmailAddress::parse(&email).map_err(DatabaseError::broken)?;
        begin_notices(db, &context, subscriber, &address)
    };
    Ok(state.pools().write_as(Some(&subscriber.to_string()), change).await?)
}
