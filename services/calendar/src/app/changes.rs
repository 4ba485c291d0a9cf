//! Change lists: everything that changed since a given time. Mirrors poll these.

use super::context::RequestContext;
use super::interrupt::ListInterrupt;
use super::list_permit::ListPermit;
use super::passwords::is_shown;
use crate::error::Error;
use crate::store::event_index::EventIndex;
use crate::store::included::{self, EventSelector};
use crate::store::read_transactions::read_transaction;
use crate::store::{changes, text_lengths};
use crate::wire::changes::change_list;
use crate::wire::envelope::EventListJson;
use crate::wire::event::{self as json, Extent};
use crate::wire::params::Params;
use crate::wire::tombstone::TombstoneJson;

/// Lists changes in chronological order. Events that are no longer visible appear as tombstones.
pub fn list(
    context: &mut RequestContext<'_>,
    params: &Params,
    index: &EventIndex,
    permit: &ListPermit,
) -> Result<EventListJson, ListInterrupt> {
    let list = change_list(params, context.list_options()).map_err(Error::from)?;
    let (changes, total, rows, included) = read_transaction(context.db, |db| {
        let (changes, total) = changes::page(db, index, &list.filter, list.rows)?;
        let shown = changes.iter().filter(|change| !change.is_gone);
        let ids: Vec<i64> = shown.map(|change| change.event).collect();
        text_lengths::check(text_lengths::of_events(db, &ids)?, permit.page_bytes())?;
        let (rows, included) = match ids.is_empty() {
            true => Default::default(),
            false => included::of_events(db, EventSelector::Ids(&ids))?,
        };
        Ok::<_, ListInterrupt>((changes, total, rows, included))
    })?;
    let included = included.readable_by(&context.actor);
    let render = context.render();
    let actor = &context.actor;
    let event = |row| {
        let extent = if is_shown(actor, params, row) { Extent::Plain } else { Extent::Protected };
        json::event(row, &included, render, extent)
    };
    let gone = changes.iter().filter(|change| change.is_gone);
    Ok(EventListJson {
        events: rows.iter().map(event).collect(),
        deleted: Some(gone.map(|change| TombstoneJson::new(change, &context.urls)).collect()),
        meta: list.meta(&context.urls, total, changes.last()),
    })
}
