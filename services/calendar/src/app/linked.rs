//! Venue and organizer use cases: list, read, create, change and remove.

use database::Db;

use super::context::RequestContext;
use super::erasure;
use super::interrupt::{Interrupt, ListInterrupt};
use super::linked_writes::{self, may_edit};
use super::list_permit::{ListPermit, ReadList};
use super::request::Request;
use super::transactions::{read, write};
use crate::error::Error;
use crate::model::included::Included;
use crate::model::linked::{Kind, Linked};
use crate::model::list::LinkedFilter;
use crate::model::role::{self, Action, User};
use crate::model::slug;
use crate::state::State;
use crate::store::{included, linked_post_list, linked_posts};
use crate::wire::envelope::{OrganizerListJson, VenueListJson, list_meta};
use crate::wire::linked::{self as json, LinkedJson};
use crate::wire::linked_input::LinkedInput;
use crate::wire::list_input::{LinkedListInput, ListRequest};
use crate::wire::parameter_errors::ParameterErrors;
use crate::wire::parameters::is_forced;
use crate::wire::params::Params;

/// Identifies a venue or an organizer in a URL path.
pub enum PathKey {
    Id(i64),
    /// The stored slug.
    Slug(String),
}

impl PathKey {
    /// Parses a slug from a path.
    pub fn of_slug(text: &str) -> PathKey {
        PathKey::Slug(slug::lookup_form(text))
    }

    /// Combines the path with the kind of resource.
    pub fn of(self, kind: Kind) -> LinkedKey {
        LinkedKey { kind, path: self }
    }
}

/// Identifies a venue or an organizer, including its kind.
pub struct LinkedKey {
    kind: Kind,
    path: PathKey,
}

impl LinkedKey {
    fn require(&self, db: &mut Db) -> Result<Linked, Error> {
        let (found, name) = match &self.path {
            PathKey::Id(id) => (linked_posts::find(db, self.kind, *id)?, "id"),
            PathKey::Slug(slug) => (linked_posts::find_by_slug(db, self.kind, slug)?, "slug"),
        };
        let text = match self.kind {
            Kind::Venue => "must name a venue",
            Kind::Organizer => "must name an organizer",
        };
        found.ok_or_else(|| ParameterErrors::one(name, text).into())
    }

    /// Returns the caller and the row, if the caller is allowed to edit it.
    fn editable(&self, context: &mut RequestContext<'_>) -> Result<(User, Linked), Error> {
        let user = context.user()?;
        let row = self.require(context.db)?;
        if may_edit(&user, &row) { Ok((user, row)) } else { Err(Error::Forbidden) }
    }
}

fn render(
    context: &mut RequestContext<'_>,
    row: &Linked,
    single: bool,
) -> Result<LinkedJson, Error> {
    let included = included::of_linked(context.db, std::slice::from_ref(row))?;
    Ok(LinkedJson::new(row, &included, context.render(), single))
}

/// Creates a row from request parameters, inside a transaction.
pub fn create_in(
    context: &mut RequestContext<'_>,
    kind: Kind,
    params: &Params,
) -> Result<Linked, Interrupt> {
    let user = context.user()?;
    let input = LinkedInput::read(params, kind, true);
    let change = context.decode_write(&user, input, LinkedInput::decode)?;
    let write = context.write_context(&user);
    linked_writes::create(context.db, kind, &change, write)
}

/// Creates a row, or returns the existing one with the same name. Also returns its URL.
pub async fn create(
    state: &State,
    request: Request,
    kind: Kind,
) -> Result<(LinkedJson, String), Error> {
    write(state, request, Action::Create, move |context, params| {
        let row = create_in(context, kind, params)?;
        let location = context.urls.item(kind.collection(), row.id);
        Ok((render(context, &row, false)?, location))
    })
    .await
}

/// Reads a row. Also returns when it last changed.
pub async fn find(
    state: &State,
    request: Request,
    key: LinkedKey,
) -> Result<(LinkedJson, i64), Error> {
    read(state, request, move |context, _| {
        let row = key.require(context.db)?;
        if !role::may_read(&context.actor, &row.status, row.author) {
            return Err(Error::NotAccessible(key.kind.word()));
        }
        Ok((render(context, &row, true)?, row.modified_utc))
    })
    .await
}

/// Changes the given fields of a row.
pub async fn update(state: &State, request: Request, key: LinkedKey) -> Result<LinkedJson, Error> {
    write(state, request, Action::Change, move |context, params| {
        let (user, row) = key.editable(context)?;
        context.check_unchanged(params, |context| render(context, &row, true))?;
        let input = LinkedInput::read(params, key.kind, false);
        let change = context.decode_write(&user, input, LinkedInput::decode)?;
        let write = context.write_context(&user);
        let row = linked_writes::update(context.db, row, &change, write)?;
        Ok(render(context, &row, false)?)
    })
    .await
}

/// Moves a row to the trash, or erases it if the request is forced.
pub async fn remove(state: &State, request: Request, key: LinkedKey) -> Result<LinkedJson, Error> {
    let kind = key.kind;
    let removed = write(state, request, Action::Change, move |context, params| {
        let (_, row) = key.editable(context)?;
        let is_forced = is_forced(params)?;
        if row.status.is_trashed() && !is_forced {
            return Err(Error::InTrash(kind.word()).into());
        }
        context.check_unchanged(params, |context| render(context, &row, true))?;
        let now = context.now.as_second();
        if is_forced {
            let json = render(context, &row, false)?;
            erasure::linked(context.db, row, now)?;
            return Ok((json, true));
        }
        let row = linked_writes::trash(context.db, row, now)?;
        Ok((render(context, &row, false)?, false))
    });
    let (json, is_erased) = removed.await.map_err(|error| error.while_deleting(kind.word()))?;
    if is_erased {
        erasure::finish(state).await;
    }
    Ok(json)
}

type Page = (Vec<Linked>, i64, Included, ListRequest<LinkedFilter>);

fn page(
    context: &mut RequestContext<'_>,
    kind: Kind,
    params: &Params,
    permit: &ListPermit,
) -> Result<Page, ListInterrupt> {
    let list = context.decode_list(LinkedListInput::read(params), LinkedListInput::decode)?;
    let room = permit.page_bytes();
    let (rows, total) = linked_post_list::page(context.db, kind, &list.filter, list.paging, room)?;
    if rows.is_empty() && list.paging.page > 1 {
        return Err(Error::NoSuchPage(kind.word()).into());
    }
    let included = included::of_linked(context.db, &rows)?;
    Ok((rows, total, included, list))
}

/// Lists venues, newest first.
pub async fn list_venues(
    state: &State,
    request: Request,
) -> Result<ReadList<VenueListJson>, Error> {
    let permit = ListPermit::acquire(state, &request).await?;
    permit
        .list(state, request, |context, params, permit| {
            let (rows, total, included, list) = page(context, Kind::Venue, params, permit)?;
            let render = context.render();
            let venues =
                rows.iter().map(|row| json::venue(row, &included, render, false)).collect();
            let collection = context.urls.collection("venues");
            let meta = list_meta(&collection, list.paging, &list.query, total);
            Ok(VenueListJson { venues, meta })
        })
        .await
}

/// Lists organizers, newest first.
pub async fn list_organizers(
    state: &State,
    request: Request,
) -> Result<ReadList<OrganizerListJson>, Error> {
    let permit = ListPermit::acquire(state, &request).await?;
    permit
        .list(state, request, |context, params, permit| {
            let (rows, total, included, list) = page(context, Kind::Organizer, params, permit)?;
            let render = context.render();
            let organizers =
                rows.iter().map(|row| json::organizer(row, &included, render, false)).collect();
            let collection = context.urls.collection("organizers");
            let meta = list_meta(&collection, list.paging, &list.query, total);
            Ok(OrganizerListJson { organizers, meta })
        })
        .await
}
