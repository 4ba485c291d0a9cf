//! The text of an iCalendar feed, generated in pieces.

use std::sync::Arc;

use database::DatabaseError;

use super::feed_series::{self, EarlierEvents, SeriesForms};
use crate::error::Error;
use crate::ical::{self, FeedContext, Head};
use crate::model::event::Event;
use crate::model::list::Paging;
use crate::model::status::Status;
use crate::model::urls::Urls;
use crate::state::State;
use crate::store::events::ZoneSpan;
use crate::store::included::{self, EventSelector};
use crate::store::read_transactions::read_transaction;
use crate::store::text_lengths;

/// Number of events per piece.
const PIECE: usize = 500;

/// Maximum size of a piece in bytes. A single event can exceed it.
const LONGEST_PIECE: usize = 512 << 10;

/// A long feed that is generated piece by piece.
pub struct Pieces {
    state: State,
    listed: Arc<Listed>,
    next: usize,
    done: bool,
}

/// The events in a feed, and the settings used to write them.
pub(super) struct Listed {
    /// Ids of the listed events, followed by the cancelled ones. Excludes events that are covered
    /// by a series' rule.
    pub(super) ids: Vec<i64>,
    /// How series are shown. Series with a rule come after the events.
    pub(super) forms: SeriesForms,
    /// Number of listed events, including events that are covered by a series' rule.
    pub(super) events: usize,
    pub(super) zones: Vec<ZoneSpan>,
    pub(super) urls: Urls,
    pub(super) outlook: bool,
    /// This calendar's own id.
    pub(super) calendar: String,
    pub(super) total: i64,
    pub(super) paging: Paging,
    pub(super) unlisted: Option<i64>,
}

impl Listed {
    fn context(&self) -> FeedContext<'_> {
        let Listed { urls, calendar, .. } = self;
        FeedContext { urls, host: urls.host(), calendar }
    }
}

impl Pieces {
    pub(super) fn new(state: &State, listed: Arc<Listed>) -> Pieces {
        Pieces { state: state.clone(), listed, next: 0, done: false }
    }

    /// Generates the next piece. Also returns when its events last changed. `None` at the end.
    pub async fn next(&mut self) -> Result<Option<(String, Option<i64>)>, Error> {
        if self.done {
            return Ok(None);
        }
        let mut text = String::new();
        if self.next == 0 {
            self.begin(&mut text);
        }
        let rest = self.next..self.listed.ids.len();
        let mut modified = None;
        let whole = self.listed.forms.whole.len();
        if let Some(at) = self.next.checked_sub(rest.end).filter(|at| *at < whole) {
            let listed = self.listed.clone();
            let read = move |db: &mut database::Db| {
                let series = &listed.forms.whole[at];
                read_transaction(db, |db| feed_series::written(db, listed.context(), series))
            };
            let (piece, changed) = self.state.pools.read(read).await?;
            text.push_str(&piece);
            self.next += 1;
            modified = changed;
        } else if !rest.is_empty() {
            let listed = self.listed.clone();
            let read = move |db: &mut database::Db| written(db, &listed, rest);
            let piece = self.state.pools.read(read).await?;
            text.push_str(&piece.text);
            self.next += piece.events;
            modified = piece.modified;
        }
        self.done = self.next == self.listed.ids.len() + whole;
        if self.done {
            ical::end(&mut text);
        }
        Ok(Some((text, modified)))
    }

    fn begin(&self, text: &mut String) {
        let Listed { events, zones, urls, outlook, calendar, total, paging, .. } = &*self.listed;
        let settings = &self.state.site.settings;
        let (site, url, language) = (&settings.site_name, &urls.base, settings.site_locale);
        let words = language.words();
        let description = if paging.pages(*total) > 1 {
            let part = language.count(i64::try_from(*events).unwrap_or(i64::MAX));
            (words.part_of_events)(part, language.count(*total), site)
        } else {
            (words.events_of)(site)
        };
        let description = &description;
        ical::begin(text, Head { id: calendar, site, url, description, outlook: *outlook });
        for ZoneSpan { zone, first, last } in zones {
            if ical::needs_rules(zone) {
                ical::time_zone(text, zone, *first, *last);
            }
        }
    }
}

/// Returns whether a trashed event was published before.
fn was_published(event: &Event) -> bool {
    event.status.is_trashed() && event.previous.as_ref().is_some_and(Status::is_published)
}

/// A piece of a feed.
struct Piece {
    text: String,
    /// Number of events in `text`.
    events: usize,
    /// When these events, their venues or their organizers last changed, in Unix seconds. `None` if
    /// the piece has no events.
    modified: Option<i64>,
}

/// Generates the next events of a feed, up to the limits on events and bytes per piece.
fn written(
    db: &mut database::Db,
    listed: &Listed,
    rest: std::ops::Range<usize>,
) -> Result<Piece, Error> {
    let rest = &listed.ids[rest];
    let mut ids = &rest[..rest.len().min(PIECE)];
    let (rows, included, earlier) = read_transaction(db, |db| {
        while ids.len() > 1 && text_lengths::of_events(db, ids)? > LONGEST_PIECE {
            ids = &ids[..ids.len() / 2];
        }
        let (rows, included) = included::of_events(db, EventSelector::Ids(ids))?;
        let earlier = EarlierEvents::among(db, &rows, &included)?;
        Ok::<_, DatabaseError>((rows, included, earlier))
    })?;
    let included = included.readable_by(&None);
    let mut text = String::new();
    // Skip events that were hidden after the list was read.
    let shown = rows.iter().filter(|event| match listed.unlisted {
        Some(_) => event.status.is_published() || was_published(event),
        None => event.is_public() || event.status.is_trashed(),
    });
    for event in shown.clone() {
        let form = listed.forms.of_event(event, &included, &earlier);
        ical::write_event(&mut text, event, &included, listed.context(), form);
    }
    let linked = included.venues.values().chain(included.organizers.values());
    let changes = shown.map(|event| event.modified_utc).chain(linked.map(|row| row.modified_utc));
    Ok(Piece { text, events: ids.len(), modified: changes.max() })
}
