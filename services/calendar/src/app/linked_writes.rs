//! Creates, changes and trashes venues and organizers, inside a transaction.

use database::{DatabaseError, Db};

use super::images::{self, PlannedImage};
use super::interrupt::Interrupt;
use super::list_permit::LONGEST_PAGE;
use super::slugs::{self, SlugSource};
use super::write_context::WriteContext;
use crate::error::Error;
use crate::model::change::LinkedChange;
use crate::model::html;
use crate::model::linked::{Kind, Linked};
use crate::model::list::Scope;
use crate::model::role::{self, User};
use crate::model::status::{Stage, Status};
use crate::store::{linked_posts, links, text_lengths};
use crate::wire::parameter_errors::ParameterErrors;

/// If an event has at least this many other venues and organizers, a longer text for one of them
/// could push the event over a page's text limit. This assumes that each text is at most 2 MiB
/// long, which is the maximum line length in a load file, and ignores that stored text can be
/// longer because of escaping.
const CROWD: usize = 14;

/// The row that a write request creates, changes or refers to.
pub enum PlannedLinked<'a> {
    /// An existing row, left unchanged.
    Known(Linked),
    /// A row to insert.
    New(LinkedDraft<'a>),
    /// A row to update, and its current state.
    Changed(LinkedDraft<'a>, Box<Linked>),
}

/// A row that doesn't have its new slug and image yet.
pub struct LinkedDraft<'a> {
    row: Linked,
    was_trashed: bool,
    sent_slug: Option<&'a str>,
    image: PlannedImage<'a>,
}

/// Creates a row, or returns the existing one with the same name.
///
/// If there is an existing row, the other fields in the request are applied to it only if the
/// caller is allowed to edit it.
pub fn create(
    db: &mut Db,
    kind: Kind,
    change: &LinkedChange,
    write: WriteContext<'_>,
) -> Result<Linked, Interrupt> {
    let planned = plan(db, kind, change, write)?;
    Ok(store(db, planned, write)?)
}

/// Decides what [`create`] will store.
pub fn plan<'a>(
    db: &mut Db,
    kind: Kind,
    change: &'a LinkedChange,
    write: WriteContext<'a>,
) -> Result<PlannedLinked<'a>, Interrupt> {
    check_name(kind, change)?;
    check_author(change, write.user)?;
    let same = match write.wanted_id {
        None => duplicate(db, kind, change, write.user)?,
        Some(_) => None,
    };
    match same {
        Some(row) if may_edit(write.user, &row) && change.has_fields_besides_name() => {
            plan_update(db, row, change, write)
        }
        Some(row) => Ok(PlannedLinked::Known(row)),
        None => plan_new(db, kind, change, write),
    }
}

fn plan_new<'a>(
    db: &mut Db,
    kind: Kind,
    change: &'a LinkedChange,
    write: WriteContext<'a>,
) -> Result<PlannedLinked<'a>, Interrupt> {
    let mut row = LinkedChange::blank(kind, write.user.id, write.now, write.now_local);
    change.apply(&mut row, write.user, true, write.now);
    draft(db, row, change, false, write).map(PlannedLinked::New)
}

/// Creates a row even if there is already one with the same name.
pub fn create_apart(
    db: &mut Db,
    kind: Kind,
    change: &LinkedChange,
    write: WriteContext<'_>,
) -> Result<Linked, Interrupt> {
    check_name(kind, change)?;
    check_author(change, write.user)?;
    let planned = plan_new(db, kind, change, write)?;
    Ok(store(db, planned, write)?)
}

fn check_name(kind: Kind, change: &LinkedChange) -> Result<(), Error> {
    match html::plain(change.name.as_deref().unwrap_or_default()).is_empty() {
        true => Err(Error::CouldNotCreate(kind)),
        false => Ok(()),
    }
}

pub fn store(
    db: &mut Db,
    planned: PlannedLinked<'_>,
    write: WriteContext<'_>,
) -> Result<Linked, DatabaseError> {
    match planned {
        PlannedLinked::Known(row) => Ok(row),
        PlannedLinked::New(mut draft) => {
            draft.row.id = linked_posts::allocate_as(db, draft.row.kind, write.wanted_id)?;
            let row = draft.finish(db, write)?;
            linked_posts::insert(db, &row)?;
            Ok(row)
        }
        PlannedLinked::Changed(draft, old) => {
            let row = draft.finish(db, write)?;
            if (Linked { modified_utc: old.modified_utc, ..row.clone() }) == *old {
                return Ok(*old);
            }
            let collection = row.kind.collection();
            slugs::remember(db, collection, row.id, (&old.slug, &old.status), &row.slug)?;
            linked_posts::update(db, &row)?;
            Ok(row)
        }
    }
}

fn draft<'a>(
    db: &mut Db,
    row: Linked,
    change: &'a LinkedChange,
    was_trashed: bool,
    write: WriteContext<'a>,
) -> Result<LinkedDraft<'a>, Interrupt> {
    let image = images::plan(db, change.post.image.as_ref(), row.image, write)?;
    Ok(LinkedDraft { row, was_trashed, sent_slug: change.post.slug.as_deref(), image })
}

impl LinkedDraft<'_> {
    /// Assigns the slug and the image.
    fn finish(self, db: &mut Db, write: WriteContext<'_>) -> Result<Linked, DatabaseError> {
        let LinkedDraft { mut row, was_trashed, sent_slug, image } = self;
        let source = SlugSource {
            sent: sent_slug,
            current: &row.slug,
            title: &row.name,
            was_trashed,
            is_trashed: row.status.is_trashed(),
        };
        row.slug = slugs::assign(db, row.kind.collection(), row.id, source)?;
        row.image = images::store(db, &image, write)?;
        Ok(row)
    }
}

/// Finds a row with the same name, and the same description if one is given. The row must be
/// visible to the caller and not in the trash.
pub fn duplicate(
    db: &mut Db,
    kind: Kind,
    change: &LinkedChange,
    user: &User,
) -> Result<Option<Linked>, Error> {
    let Some(scope) = Scope::of(&Some(user.clone()), None) else { return Ok(None) };
    let wanted = change.post.description.as_deref().filter(|text| !text.is_empty());
    let ids = linked_posts::named(db, kind, &change.folded_name(), &scope, wanted)?;
    match ids.first() {
        Some(id) => Ok(linked_posts::find(db, kind, *id)?),
        None => Ok(None),
    }
}

/// Finds the same row as [`duplicate`], or else the row with the same name if only one of them is
/// visible.
pub fn same_name(
    db: &mut Db,
    kind: Kind,
    change: &LinkedChange,
    user: &User,
) -> Result<Option<Linked>, Error> {
    if let Some(same) = duplicate(db, kind, change, user)? {
        return Ok(Some(same));
    }
    let Some(scope) = Scope::of(&Some(user.clone()), None) else { return Ok(None) };
    match linked_posts::named(db, kind, &change.folded_name(), &scope, None)?[..] {
        [only] => Ok(linked_posts::find(db, kind, only)?),
        _ => Ok(None),
    }
}

/// Returns whether the user is allowed to change or delete the row.
pub fn may_edit(user: &User, row: &Linked) -> bool {
    role::may_edit(user, &row.status, row.previous.as_ref(), row.author)
}

fn check_author(change: &LinkedChange, user: &User) -> Result<(), Error> {
    match change.post.author {
        Some(author) if !role::may_set_author(user, author) => Err(Error::CannotEditOthers),
        _ => Ok(()),
    }
}

/// Changes a row. The caller must have checked permissions. Leaves the modification date alone if
/// nothing has changed.
pub fn update(
    db: &mut Db,
    row: Linked,
    change: &LinkedChange,
    write: WriteContext<'_>,
) -> Result<Linked, Interrupt> {
    let planned = plan_update(db, row, change, write)?;
    Ok(store(db, planned, write)?)
}

fn plan_update<'a>(
    db: &mut Db,
    mut row: Linked,
    change: &'a LinkedChange,
    write: WriteContext<'a>,
) -> Result<PlannedLinked<'a>, Interrupt> {
    if change.post.author != Some(row.author) {
        check_author(change, write.user)?;
    }
    let (old, was_trashed) = (row.clone(), row.status.is_trashed());
    change.apply(&mut row, write.user, false, write.now);
    check_events(db, &old, &row)?;
    let draft = draft(db, row, change, was_trashed, write)?;
    Ok(PlannedLinked::Changed(draft, Box::new(old)))
}

/// Fails if longer text would push one of the row's events over a page's text limit.
fn check_events(db: &mut Db, old: &Linked, new: &Linked) -> Result<(), Error> {
    let size = |row: &Linked| row.description.len() + row.excerpt.len();
    let more = size(new).saturating_sub(size(old));
    if more == 0 {
        return Ok(());
    }
    for event in links::crowded_events(db, old.kind, old.id, CROWD)? {
        let bytes = text_lengths::of_events(db, &[event])? + more;
        if bytes > LONGEST_PAGE {
            let (mib, most) = (bytes >> 20, LONGEST_PAGE >> 20);
            let text = format!("must be shorter: event {event} would have {mib} MiB, over {most}");
            return Err(ParameterErrors::one("description", &text).into());
        }
    }
    Ok(())
}

pub fn trash(db: &mut Db, mut row: Linked, now: i64) -> Result<Linked, Error> {
    Status::of(Stage::Trash).replace(&mut row.status, &mut row.previous);
    let source = SlugSource {
        sent: None,
        current: &row.slug,
        title: &row.name,
        was_trashed: false,
        is_trashed: true,
    };
    row.slug = slugs::assign(db, row.kind.collection(), row.id, source)?;
    row.modified_utc = now;
    linked_posts::update(db, &row)?;
    Ok(row)
}
