//! Opt-outs by the owner of an address.

use std::net::IpAddr;

use database::Db;
use domain::EmailAddress;

use super::mail_links::{self, Purpose};
use super::mails;
use super::opt_outs;
use crate::error::Error;
use crate::model::OptOut;
use crate::state::State;
use crate::store::{sessions, subscribers};

/// Sends a link to the opt-out choices.
///
/// # Errors
/// [`Error::Email`], [`Error::TooMany`], [`Error::Unavailable`].
pub async fn ask_for_opt_out(
    state: &State,
    client: IpAddr,
    address: &EmailAddress,
) -> Result<(), Error> {
    mail_links::send(state, client, address, Purpose::OptOut, mails::opt_out).await
}

/// The address of a valid link.
///
/// # Errors
/// Returns errors of the database.
pub async fn opt_out_link(state: &State, link: &str) -> Result<Option<String>, Error> {
    mail_links::look(state, link, Purpose::OptOut).await
}

/// Applies a choice with a link. Returns the address if the link was valid. A deletion ends all
/// sessions of the owner.
///
/// # Errors
/// Returns errors of the database.
pub async fn choose_opt_out(
    state: &State,
    link: &str,
    choice: OptOut,
) -> Result<Option<String>, Error> {
    let (link, now) = (link.to_owned(), state.clock().unix());
    let choose = move |db: &mut Db| -> Result<Option<String>, Error> {
        let used = mail_links::use_up(db, &link, Purpose::OptOut, now)?;
        let Some(address) = used else { return Ok(None) };
        opt_outs::opt_out(db, &address, choice, now)?;
        if choice == OptOut::Delete
            && let Some(id) = subscribers::id(db, &address)?
        {
            sessions::end_all(db, id)?;
        }
        Ok(Some(address.to_string()))
    };
    state.pools().write(choose).await
}
