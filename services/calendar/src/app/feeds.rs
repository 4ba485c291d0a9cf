//! iCalendar feeds: selects the events and generates the file in pieces.

use std::sync::Arc;

use database::DatabaseError;
use sha2::{Digest, Sha256};
use shell::EntityTag;

use super::context::RequestContext;
use super::feed_series::{self, EarlierEvents, SeriesForms};
use super::list_permit::ListPermit;
use super::request::Request;
use super::transactions::{read, read_list};
use crate::error::Error;
use crate::ical::{self, FeedContext, Head};
use crate::model::event::Event;
use crate::model::list::{EventFilter, Paging};
use crate::model::slug;
use crate::model::status::Status;
use crate::model::urls::Urls;
use crate::state::State;
use crate::store::event_index::IndexAccess;
use crate::store::event_list;
use crate::store::events::{self, ZoneSpan};
use crate::store::imported;
use crate::store::included::{self, EventSelector};
use crate::store::read_transactions::read_transaction;
use crate::store::{feeds, terms, text_lengths};
use crate::wire::list_input::{EventListInput, ListOptions, ListRequest};
use crate::wire::params::Params;

/// Number of events per piece.
const PIECE: usize = 500;

/// Maximum size of a piece in bytes. A single event may exceed it.
const LONGEST_PIECE: usize = 512 << 10;

/// Feeds up to this size in bytes are kept in memory after the first pass over their events. Longer
/// feeds are generated again as the response is sent.
const KEPT: usize = 1 << 20;

/// How long feeds keep showing trashed events as cancelled, in seconds.
const CANCELLED_SECONDS: i64 = 30 * DAY_SECONDS;

const DAY_SECONDS: i64 = 24 * 3600;

/// A feed whose events have not been read yet.
pub struct Feed {
    /// The entity tag, which can be computed before reading any events.
    pub tag: EntityTag,
    state: State,
    urls: Urls,
    params: Params,
    calendar: String,
    /// Events that were trashed at or after this time are shown as cancelled.
    cancelled_since: i64,
    /// The only event of a feed that serves a single unlisted event.
    unlisted: Option<i64>,
    /// Whether each occurrence of a series is a separate entry because the feed is limited by date.
    is_of_dates: bool,
    /// Events whose series are in the feed in full. There may be more of them than a list request
    /// accepts.
    events: Option<Vec<i64>>,
}

/// A feed's content. Its modification date is known before anything is sent.
pub struct FeedContent {
    /// When it last changed, in Unix seconds.
    pub modified: Option<i64>,
    /// The suggested file name.
    pub file_name: String,
    /// Total number of matching events. The feed contains only one page of them.
    pub total: i64,
    pub pages: i64,
    pub text: FeedText,
}

pub enum FeedText {
    /// The complete file.
    Whole(String),
    /// Generated as the response is sent.
    Pieces(Box<Pieces>),
}

/// A long feed that is generated piece by piece.
pub struct Pieces {
    state: State,
    listed: Arc<Listed>,
    next: usize,
    done: bool,
}

/// The events in a feed, and the settings used to write them.
struct Listed {
    /// Ids of the listed events, followed by the cancelled ones. Doesn't include the events of
    /// series shown with a rule.
    ids: Vec<i64>,
    /// How series are shown. Series with a rule come after the events.
    forms: SeriesForms,
    /// Number of listed events, including events of series shown with a rule.
    events: usize,
    zones: Vec<ZoneSpan>,
    urls: Urls,
    outlook: bool,
    /// This calendar's own id.
    calendar: String,
    total: i64,
    paging: Paging,
    unlisted: Option<i64>,
}

impl Listed {
    fn context(&self) -> FeedContext<'_> {
        let Listed { urls, calendar, .. } = self;
        FeedContext { urls, host: urls.host(), calendar }
    }
}

/// Returns the time, in Unix seconds, since which an event must have been trashed to appear as
/// cancelled.
pub fn cancelled_since(now: i64) -> i64 {
    // Round down to a whole day. Otherwise the tag would change every second.
    now - now.rem_euclid(DAY_SECONDS) - CANCELLED_SECONDS
}

/// Returns a feed of the public events that match these list parameters. The tag is derived from
/// the parameters and the number of the latest change, so if the client is up to date, nothing else
/// has to be read.
pub async fn feed(state: &State, request: Request) -> Result<Feed, Error> {
    let (urls, params) = (request.urls, request.params?);
    let now = state.clock.now().as_second();
    let cancelled_since = cancelled_since(now);
    let list = anonymous(&params, &urls);
    let is_of_dates = feed_series::is_of_dates(&params);
    let (version, calendar, filter) = read(state, list, move |context, params| {
        // Read the version first, so that a concurrent change results in a different tag next time.
        let version = feeds::version(context.db)?;
        let list = decode(context, params)?;
        let filter = format!("{:?} {:?} {is_of_dates}", list.filter, list.paging);
        Ok((version, imported::calendar_id(context.db)?, filter))
    })
    .await?;
    let settings = &state.site.settings;
    let mut hasher = Sha256::new();
    for part in [
        env!("CARGO_PKG_VERSION"),
        &version.to_string(),
        &calendar,
        &urls.base,
        &settings.site_name,
        settings.site_locale.code(),
        settings.site_timezone.name(),
        &cancelled_since.to_string(),
        if is_for_outlook(&params) { "outlook" } else { "" },
        &filter,
    ] {
        hasher.update(part.as_bytes());
        hasher.update(b"\0");
    }
    let tag = EntityTag::of_digest(&hasher.finalize()[..16]);
    let (state, unlisted, events) = (state.clone(), None, None);
    Ok(Feed { tag, state, urls, params, calendar, cancelled_since, unlisted, is_of_dates, events })
}

impl Feed {
    /// Returns a feed that contains only this public but unlisted event.
    #[must_use]
    pub fn of_unlisted(self, event: i64) -> Feed {
        Feed { unlisted: Some(event), ..self }
    }

    /// Returns a feed of these events, with a separate entry for each occurrence.
    #[must_use]
    pub fn of_single_dates(self, events: Vec<i64>) -> Feed {
        Feed { is_of_dates: true, events: Some(events), ..self }
    }

    /// Returns a feed of the complete series that these events belong to.
    #[must_use]
    pub fn of_whole_series(self, events: Vec<i64>) -> Feed {
        Feed { is_of_dates: false, events: Some(events), ..self }
    }

    pub async fn read(self) -> Result<FeedContent, Error> {
        let Feed { state, urls, params, calendar, cancelled_since, unlisted, events, .. } = self;
        let since = (cancelled_since, self.is_of_dates);
        let permit = ListPermit::acquire(&state, &anonymous(&params, &urls)).await?;
        let outlook = is_for_outlook(&params);
        let found = match unlisted {
            Some(event) => state.pools.read(move |db| Found::only(db, event)).await?,
            None => listed(&state, &urls, (params, events), permit, since).await?,
        };
        let Found { ids, forms, events, zones, total, paging } = found;
        let listed = Arc::new(Listed {
            ids,
            forms,
            events,
            zones,
            urls,
            outlook,
            calendar,
            total,
            paging,
            unlisted,
        });
        let (mut hasher, mut kept) = (Sha256::new(), Some(String::new()));
        let mut modified = None;
        let mut pieces = Pieces::new(&state, listed.clone());
        while let Some((piece, changed)) = pieces.next().await? {
            hasher.update(&piece);
            modified = modified.max(changed);
            kept = kept.filter(|text| text.len() + piece.len() <= KEPT).map(|text| text + &piece);
        }
        let digest = hasher.finalize();
        let site = slug::slugify(&state.site.settings.site_name);
        let hash: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
        Ok(FeedContent {
            modified,
            file_name: format!("{site}-{hash}.ics"),
            total,
            pages: paging.pages(total),
            text: match kept {
                Some(text) => FeedText::Whole(text),
                None => FeedText::Pieces(Box::new(Pieces::new(&state, listed))),
            },
        })
    }
}

fn is_for_outlook(params: &Params) -> bool {
    params.text("outlook-ical").is_some_and(|flag| flag == "1")
}

/// Returns the list request for a feed. Feeds are the same for every caller, so the login is
/// dropped.
fn anonymous(params: &Params, urls: &Urls) -> Request {
    Request { login: None, params: Ok(params.clone()), urls: urls.clone(), if_match: None }
}

/// Decodes the feed's list parameters.
fn decode(
    context: &mut RequestContext<'_>,
    params: &Params,
) -> Result<ListRequest<EventFilter>, Error> {
    let most = context.site.settings.ical_items_max;
    let mut list = context.decode_list(EventListInput::read(params), |input, known, options| {
        let options = ListOptions { per_page: most, per_page_max: most, ..options };
        input.decode(known, options)
    })?;
    if let Some(named) = &mut list.filter.categories {
        *named = terms::with_descendants(context.db, named)?;
    }
    Ok(list)
}

/// The events found for a feed.
struct Found {
    /// Ids of the listed events, followed by the cancelled ones.
    ids: Vec<i64>,
    forms: SeriesForms,
    /// Number of listed events.
    events: usize,
    zones: Vec<ZoneSpan>,
    total: i64,
    paging: Paging,
}

impl Found {
    fn only(db: &mut database::Db, event: i64) -> Result<Found, Error> {
        let zones = events::zones_of(db, &[event])?;
        let paging = Paging { page: 1, per_page: 1 };
        let forms = SeriesForms::default();
        Ok(Found { ids: vec![event], forms, events: 1, zones, total: 1, paging })
    }
}

/// Reads the ids of a feed's events, their time zones, the total number of matches, and the page.
async fn listed(
    state: &State,
    urls: &Urls,
    (params, included): (Params, Option<Vec<i64>>),
    permit: ListPermit,
    (cancelled_since, is_of_dates): (i64, bool),
) -> Result<Found, Error> {
    let read = |permit: ListPermit| {
        let request = anonymous(&params, urls);
        let (index, included) = (state.index.clone(), included.clone());
        let work = move |context: &mut RequestContext<'_>, params: &Params| {
            let mut list = decode(context, params)?;
            list.filter.include = included.or(list.filter.include);
            let access = IndexAccess { index: &index, deadline: permit.deadline };
            let paging = list.paging;
            let (mut ids, total) = event_list::page(context.db, access, &list.filter, paging)?;
            let events = ids.len();
            if paging.page == 1 {
                let limits = (cancelled_since, context.site.settings.ical_items_max);
                ids.extend(feeds::withdrawn(context.db, &list.filter, limits)?);
            }
            let mut zones = events::zones_of(context.db, &ids)?;
            let mut forms = SeriesForms::default();
            if paging.pages(total) <= 1 && !is_of_dates {
                let found = (&mut ids, events);
                forms = feed_series::forms(context.db, access, &list.filter, found)?;
                feed_series::add_zones(context.db, &forms.whole, &mut zones)?;
            }
            Ok(Found { ids, forms, events, zones, total, paging })
        };
        read_list(state, request, work)
    };
    Ok(permit.read(state, read).await?.list)
}

impl Pieces {
    fn new(state: &State, listed: Arc<Listed>) -> Pieces {
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
