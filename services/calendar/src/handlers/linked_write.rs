//! Creating, changing and trashing venues and organizers.

use database::Db;

use super::naming::{settle_image, settle_slug};
use crate::error::Error;
use crate::model::change::LinkedChange;
use crate::model::event::set_status;
use crate::model::html;
use crate::model::linked::{Kind, Linked};
use crate::model::role::{self, Person};
use crate::model::status::{Stage, Status};
use crate::state::{Fetched, Scene};
use crate::store::linked;

/// Who writes when, as (Unix seconds, wall clock of the site).
#[derive(Clone, Copy)]
pub struct Moment<'a> {
    pub person: &'a Person,
    pub now: i64,
    pub now_local: i64,
    /// Images that were fetched for the write; none when addresses are only recorded.
    pub fetched: Option<&'a Fetched>,
}

/// Says who writes in this scene.
pub fn moment<'a>(scene: &Scene<'a>, person: &'a Person) -> Moment<'a> {
    let (now, now_local) = scene.present();
    Moment { person, now, now_local, fetched: scene.fetched }
}

/// Creates a row, or returns the one that has the same name already.
///
/// Fields beside the name overwrite the existing row only where the caller may edit it.
pub fn create(
    db: &mut Db,
    kind: Kind,
    change: &LinkedChange,
    at: Moment<'_>,
) -> Result<Linked, Error> {
    if html::plain(change.name.as_deref().unwrap_or_default()).is_empty() {
        return Err(Error::CouldNotCreate(kind));
    }
    check_author(change, at.person)?;
    if let Some(existing) = duplicate(db, kind, change, at.person)? {
        let editable = may_edit(at.person, &existing);
        if editable && change.names_more_than_the_name() {
            return update(db, existing, change, at);
        }
        return Ok(existing);
    }
    let mut row = LinkedChange::blank(kind, at.person.id, at.now, at.now_local);
    change.apply(&mut row, at.person, true, at.now);
    row.id = linked::allocate(db, kind)?;
    settle(db, &mut row, change, false, at)?;
    linked::insert(db, &row)?;
    Ok(row)
}

/// Finds an untrashed row with the same name, and the same description where one is sent.
fn duplicate(
    db: &mut Db,
    kind: Kind,
    change: &LinkedChange,
    person: &Person,
) -> Result<Option<Linked>, Error> {
    let actor = Some(person.clone());
    let wanted = change.description.as_deref().filter(|text| !text.is_empty());
    let fits = |row: &Linked| {
        !row.status.is_trashed()
            && role::may_read(&actor, &row.status, row.author)
            && wanted.is_none_or(|text| row.description == text)
    };
    let rows = linked::by_name(db, kind, &change.folded_name())?;
    Ok(rows.into_iter().find(fits))
}

/// Tells whether somebody may change or delete a row.
pub fn may_edit(person: &Person, row: &Linked) -> bool {
    role::may_edit(person, &row.status, row.previous.as_ref(), row.author)
}

fn check_author(change: &LinkedChange, person: &Person) -> Result<(), Error> {
    match change.author {
        Some(author) if !role::may_set_author(person, author) => Err(Error::CannotEditOthers),
        _ => Ok(()),
    }
}

/// Changes a row; the caller has been found to be allowed to.
pub fn update(
    db: &mut Db,
    mut row: Linked,
    change: &LinkedChange,
    at: Moment<'_>,
) -> Result<Linked, Error> {
    if change.author != Some(row.author) {
        check_author(change, at.person)?;
    }
    let was_trashed = row.status.is_trashed();
    change.apply(&mut row, at.person, false, at.now);
    settle(db, &mut row, change, was_trashed, at)?;
    linked::update(db, &row)?;
    Ok(row)
}

fn settle(
    db: &mut Db,
    row: &mut Linked,
    change: &LinkedChange,
    was_trashed: bool,
    at: Moment<'_>,
) -> Result<(), Error> {
    let naming = (change.slug.as_deref(), row.slug.as_str(), row.name.as_str());
    let trash = (was_trashed, row.status.is_trashed());
    row.slug = settle_slug(db, row.kind.collection(), row.id, naming, trash)?;
    row.image = settle_image(db, change.image.as_ref(), row.image, at)?;
    Ok(())
}

/// Moves a row to the trash.
pub fn trash(db: &mut Db, mut row: Linked, now: i64) -> Result<Linked, Error> {
    set_status(&mut row.status, &mut row.previous, Status::of(Stage::Trash));
    let naming = (None, row.slug.as_str(), row.name.as_str());
    row.slug = settle_slug(db, row.kind.collection(), row.id, naming, (false, true))?;
    row.modified_utc = now;
    linked::update(db, &row)?;
    Ok(row)
}
