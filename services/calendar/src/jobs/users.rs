//! Adds users, changes their roles, and removes them after transferring their resources.

use std::fmt;

use database::{DatabaseError, Db, Pools};
use serde::Serialize;

use super::writer_queue::writer_queue;
use crate::error::Error;
use crate::model::event::Event;
use crate::model::linked::Kind;
use crate::model::role::{Role, User};
use crate::model::status::Status;
use crate::store::{events, linked_posts, links, sql, users};

/// Why a user can't be removed or get another role.
#[derive(Debug, thiserror::Error)]
pub enum UserError {
    #[error("user {0} does not exist")]
    Unknown(String),
    #[error("a user's items cannot be given to the same user; choose another login")]
    Same,
    #[error("{0} is the only administrator; give another user this role first")]
    LastAdministrator(String),
    #[error(transparent)]
    Failed(#[from] Error),
}

impl From<DatabaseError> for UserError {
    fn from(error: DatabaseError) -> UserError {
        UserError::Failed(error.into())
    }
}

/// The number of resources that were transferred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Inherited {
    pub events: usize,
    pub venues: usize,
    pub organizers: usize,
    pub images: usize,
}

impl Inherited {
    fn add(&mut self, other: Inherited) {
        self.events += other.events;
        self.venues += other.venues;
        self.organizers += other.organizers;
        self.images += other.images;
    }
}

impl fmt::Display for Inherited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inherited { events, venues, organizers, images } = self;
        write!(f, "{events} events, {venues} venues, {organizers} organizers and {images} images")
    }
}

/// Adds a user. Returns the id. Revokes keys that were issued to a former user with this login while
/// that user was being removed.
///
/// # Errors
/// Returns [`DatabaseError::Conflict`] if the login is taken, and any database error.
pub fn create_user(pools: &Pools, login: &str, role: Role, now: i64) -> Result<i64, DatabaseError> {
    pools.write_blocking(|db| {
        let id = users::add(db, login, login, role)?;
        auth::revoke_owner(db, login, now)?;
        Ok(id)
    })
}

/// Changes a user's role.
///
/// # Errors
/// Returns an error if the login does not exist or is the only administrator's, or if the database
/// fails.
pub fn change_role(pools: &Pools, login: &str, role: Role) -> Result<(), UserError> {
    pools.write_blocking(|db| {
        sql::one_writer(db)?;
        let user = find(db, login)?;
        set_role(db, &user, role)
    })
}

fn find(db: &mut Db, login: &str) -> Result<User, UserError> {
    users::by_login(db, login)?.ok_or_else(|| UserError::Unknown(login.to_owned()))
}

/// Changes a user's role, inside a transaction that blocks other writers. Fails if this would leave
/// no administrator.
fn set_role(db: &mut Db, user: &User, role: Role) -> Result<(), UserError> {
    let administers = |one: &User| one.role == Role::Administrator;
    if administers(user)
        && role != Role::Administrator
        && !users::list(db)?.iter().any(|one| one.id != user.id && administers(one))
    {
        return Err(UserError::LastAdministrator(user.login.clone()));
    }
    Ok(users::set_role(db, user.id, role)?)
}

/// Revokes a user's keys, makes an administrator an editor, transfers all of the user's resources to
/// another user in short transactions, and then deletes the user. After an error or interruption,
/// run it again.
///
/// # Errors
/// Returns an error if a login does not exist, the user must not be removed, or the database fails.
pub fn remove_user(
    pools: &Pools,
    (login, heir): (&str, &str),
    now: i64,
) -> Result<Inherited, UserError> {
    let begin = |db: &mut Db| -> Result<(User, User), UserError> {
        sql::one_writer(db)?;
        let (user, heir) = (find(db, login)?, find(db, heir)?);
        if user.id == heir.id {
            return Err(UserError::Same);
        }
        // The user is deleted by a later transaction. Until then, another removal must not count
        // this user as an administrator.
        set_role(db, &user, user.role.min(Role::Editor))?;
        auth::revoke_owner(db, login, now)?;
        Ok((user, heir))
    };
    let (user, heir) = pools.write_blocking(begin)?;
    let mut given = Inherited::default();
    let mut queue = writer_queue(pools);
    loop {
        let (some, is_over) = queue.write(|db| give(db, &user, &heir, now))?;
        given.add(some);
        if is_over {
            return Ok(given);
        }
    }
}

/// Transfers some of the resources to the heir. When none are left, deletes the user and returns
/// true.
fn give(db: &mut Db, user: &User, heir: &User, now: i64) -> Result<(Inherited, bool), Error> {
    sql::one_writer(db)?;
    let mut given = Inherited::default();
    // A trashed resource's modification date is the date on which it was trashed, so leave it
    // unchanged.
    let modified = |status: &Status, at: i64| if status.is_trashed() { at } else { now };
    let ids = users::rows_of(db, "events", user.id)?;
    for old in events::by_ids(db, &ids)? {
        let with = links::of_event(db, old.id)?;
        let modified_utc = modified(&old.status, old.modified_utc);
        let new = Event { author: heir.id, modified_utc, ..old.clone() };
        events::update(db, (&old, &with), (&new, &with))?;
        given.events += 1;
    }
    for (kind, count) in
        [(Kind::Venue, &mut given.venues), (Kind::Organizer, &mut given.organizers)]
    {
        for id in users::rows_of(db, kind.collection(), user.id)? {
            if let Some(mut row) = linked_posts::find(db, kind, id)? {
                row.modified_utc = modified(&row.status, row.modified_utc);
                row.author = heir.id;
                linked_posts::update(db, &row)?;
                *count += 1;
            }
        }
    }
    if given != Inherited::default() {
        return Ok((given, false));
    }
    given.images = users::give_images(db, user.id, heir.id)?;
    users::delete(db, user.id)?;
    Ok((given, true))
}
