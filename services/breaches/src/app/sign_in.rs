//! Sessions, which always start with an email link.

use std::net::IpAddr;

use database::{DatabaseError, Db};
use domain::EmailAddress;

use super::mail_links::{self, Purpose};
use super::mails;
use super::secret_token::{SecretToken, digest};
use crate::error::Error;
use crate::metrics;
use crate::state::State;
use crate::store::sessions::{self, SignedIn};
use crate::store::subscribers;

/// Session lifetime in seconds.
const LIFETIME: i64 = 24 * 3600;

/// A newly started session.
pub struct Session {
    /// Value of the session cookie.
    pub token: String,
    /// Session lifetime in seconds.
    pub lifetime: i64,
}

/// Emails a sign-in link, whether or not the address is known.
///
/// # Errors
/// [`Error::Email`], [`Error::TooMany`] or [`Error::Unavailable`].
pub async fn sign_in_link(
    state: &State,
    client: IpAddr,
    address: &EmailAddress,
) -> Result<(), Error> {
    mail_links::send(state, client, address, Purpose::SignIn, mails::sign_in).await
}

/// Starts a session, adding the subscriber on the first visit. Returns `None` if the link isn't
/// valid.
///
/// # Errors
/// Returns an error if a query fails.
pub async fn sign_in(state: &State, link: &str) -> Result<Option<Session>, Error> {
    let (session, now, link) = (SecretToken::new()?, state.clock().unix(), link.to_owned());
    let (token, stored) = (session.text, session.digest);
    let begin = move |db: &mut Db| -> Result<bool, DatabaseError> {
        let Some(address) = mail_links::use_up(db, &link, Purpose::SignIn, now)? else {
            return Ok(false);
        };
        let id = subscribers::ensure(db, &address, now)?;
        subscribers::confirm(db, id, now)?;
        sessions::add(db, &stored, id, now + LIFETIME)?;
        Ok(true)
    };
    let begun = state.pools().write(begin).await?;
    metrics::count_sign_in(begun);
    Ok(begun.then_some(Session { token, lifetime: LIFETIME }))
}

/// Looks up which subscriber is signed in. Returns `None` if the session isn't valid.
///
/// # Errors
/// Returns an error if the query fails.
pub async fn signed_in(state: &State, session: &str) -> Result<Option<SignedIn>, Error> {
    let (digest, now) = (digest(session), state.clock().unix());
    Ok(state.pools().read(move |db| sessions::find(db, &digest, now)).await?)
}

/// Ends a session.
///
/// # Errors
/// Returns an error if the query fails.
pub async fn sign_out(state: &State, session: &str) -> Result<(), Error> {
    let digest = digest(session);
    Ok(state.pools().write(move |db| sessions::end(db, &digest)).await?)
}
