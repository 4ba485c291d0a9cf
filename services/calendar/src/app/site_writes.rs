//! Writes items imported from a remote site.

use database::{Db, transaction};

use super::context::RequestContext;
use super::interrupt::Interrupt;
use super::transactions::with_site_context;
use super::undone::Undone;
use super::{event_writes, linked, linked_writes, term_writes, terms};
use crate::error::Error;
use crate::model::linked::Kind;
use crate::model::role::User;
use crate::model::term::{Taxonomy, TermChange};
use crate::state::State;
use crate::store::{events, linked_posts, links, terms as stored_terms};
use crate::wire::event_input::EventInput;
use crate::wire::linked_input::LinkedInput;
use crate::wire::params::Params;
use crate::wire::term_input::TermInput;

/// The kind of an imported item.
#[derive(Clone, Copy)]
pub enum SiteKind {
    Event,
    Linked(Kind),
    Term(Taxonomy),
}

/// The item to write, with its ids here and on the remote site.
#[derive(Clone, Copy)]
pub struct SiteWrite {
    pub kind: SiteKind,
    /// The item's id on the remote site. It gets the same id here if that is still free.
    pub their_id: i64,
    /// The item's id here, if an earlier run imported it.
    pub our_id: Option<i64>,
}

/// The outcome of writing an item, with its id here.
pub enum SiteWritten {
    Created(i64),
    Updated(i64),
    Same(i64),
    /// An earlier run imported it, and it has since been erased or trashed here.
    Removed,
}

/// Writes an item within a savepoint.
///
/// # Errors
/// Returns the reason it was rolled back.
pub fn write_site_item(
    state: &State,
    db: &mut Db,
    user: &User,
    params: &Params,
    write: SiteWrite,
) -> Result<SiteWritten, Undone> {
    let written: Result<SiteWritten, Interrupt> = transaction(db, |db| {
        with_site_context(state, db, (user, write.their_id), params, |context| match write.kind {
            SiteKind::Event => event(context, user, params, write.our_id),
            SiteKind::Linked(kind) => linked_item(context, (user, kind), params, write.our_id),
            SiteKind::Term(taxonomy) => term(context, (user, taxonomy), params, write.our_id),
        })
    });
    written.map_err(Undone::from)
}

fn event(
    context: &mut RequestContext<'_>,
    user: &User,
    params: &Params,
    ours: Option<i64>,
) -> Result<SiteWritten, Interrupt> {
    let Some(id) = ours else {
        let input = EventInput::read(params, true);
        let change = context.decode_write(user, input, |input, known, options| {
            input.decode(known, options, None)
        })?;
        return Ok(SiteWritten::Created(event_writes::create_in(context, user, &change)?.id));
    };
    let Some(old) = events::find(context.db, id)?.filter(|old| !old.status.is_trashed()) else {
        return Ok(SiteWritten::Removed);
    };
    let input = EventInput::read(params, false);
    let change = context.decode_write(user, input, |input, known, options| {
        input.decode(known, options, Some(&old))
    })?;
    let before = links::of_event(context.db, id)?;
    let write = context.write_context(user);
    let new = event_writes::update(context.db, &old, &change, write)?;
    let after = links::of_event(context.db, id)?;
    Ok(match (new, after) == (old, before) {
        true => SiteWritten::Same(id),
        false => SiteWritten::Updated(id),
    })
}

fn linked_item(
    context: &mut RequestContext<'_>,
    (user, kind): (&User, Kind),
    params: &Params,
    ours: Option<i64>,
) -> Result<SiteWritten, Interrupt> {
    let Some(id) = ours else {
        return Ok(SiteWritten::Created(linked::create_in(context, kind, params)?.id));
    };
    let old = linked_posts::find(context.db, kind, id)?.filter(|old| !old.status.is_trashed());
    let Some(old) = old else { return Ok(SiteWritten::Removed) };
    let input = LinkedInput::read(params, kind, false);
    let change = context.decode_write(user, input, LinkedInput::decode)?;
    let write = context.write_context(user);
    let new = linked_writes::update(context.db, old.clone(), &change, write)?;
    Ok(if new == old { SiteWritten::Same(id) } else { SiteWritten::Updated(id) })
}

fn term(
    context: &mut RequestContext<'_>,
    (user, taxonomy): (&User, Taxonomy),
    params: &Params,
    ours: Option<i64>,
) -> Result<SiteWritten, Interrupt> {
    let Some(id) = ours else {
        return match terms::create_in(context, taxonomy, params) {
            Ok(term) => Ok(SiteWritten::Created(term.id)),
            // A term with this name already exists.
            Err(Interrupt::Failed(Error::TermExists(id))) => Ok(SiteWritten::Same(id)),
            Err(error) => Err(error),
        };
    };
    let Some(old) = stored_terms::find(context.db, taxonomy, id)? else {
        return Ok(SiteWritten::Removed);
    };
    let input = TermInput::read(params, taxonomy, false);
    let change = context.decode_write(user, input, |input, known, _| input.decode(known))?;
    let new = term_writes::update(context.db, old.clone(), &change)?;
    Ok(if new == old { SiteWritten::Same(id) } else { SiteWritten::Updated(id) })
}

/// Sets a category's parent (0 for none). Does nothing if the parent was removed here, or if the
/// parent already has a category with this name.
pub fn set_term_parent(db: &mut Db, taxonomy: Taxonomy, id: i64, parent: i64) -> Result<(), Error> {
    let Some(old) = stored_terms::find(db, taxonomy, id)?.filter(|old| old.parent != parent) else {
        return Ok(());
    };
    if parent != 0 && stored_terms::find(db, taxonomy, parent)?.is_none() {
        return Ok(());
    }
    let change = TermChange { parent: Some(parent), ..TermChange::default() };
    // A rejected change might already have moved the terms in a loop.
    match transaction(db, |db| term_writes::update(db, old, &change)) {
        Ok(_) | Err(Error::TermExists(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use testkit::Database;

    use super::*;
    use crate::store::MIGRATIONS;

    #[test]
    fn category_that_cannot_move_leaves_the_others_in_place() {
        let database = Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &MIGRATIONS]);
        let work = |db: &mut Db| -> Result<_, Error> {
            let mut add = |name: &str, parent: i64| {
                let name = Some(name.to_owned());
                let change = TermChange { name, parent: Some(parent), ..TermChange::default() };
                Ok::<_, Error>(term_writes::create(db, Taxonomy::Category, &change)?.id)
            };
            let music = add("Music", 0)?;
            let jazz = add("Jazz", music)?;
            let other = add("Music", jazz)?;
            set_term_parent(db, Taxonomy::Category, music, jazz)?;
            let mut parents = Vec::new();
            for id in [music, jazz, other] {
                parents.push(stored_terms::parent_of(db, id)?);
            }
            Ok((parents, [0, music, jazz]))
        };
        let (parents, expected) = pools.write_blocking(work).unwrap();
        assert_eq!(parents, expected);
    }
}
