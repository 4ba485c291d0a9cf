//! iCalendar feeds: the events in them, the entity tag and the date of the last change.

use std::sync::Arc;

use sha2::{Digest, Sha256};
use shell::EntityTag;

use super::context::RequestContext;
use super::feed_pieces::{Listed, Pieces};
use super::feed_series::{self, SeriesForms};
use super::list_permit::ListPermit;
use super::request::Request;
use super::transactions::{read, read_list};
use crate::error::Error;
use crate::model::list::{EventFilter, Paging};
use crate::model::slug;
use crate::model::urls::Urls;
use crate::state::State;
use crate::store::event_index::IndexAccess;
use crate::store::event_list;
use crate::store::events::{self, ZoneSpan};
use crate::store::{feeds, imported, terms};
use crate::wire::list_input::{EventListInput, ListOptions, ListRequest};
use crate::wire::params::Params;

/// Feeds up to this size in bytes are kept in memory after the first pass over their events. Longer
/// feeds are generated again as the response is sent.
const KEPT: usize = 1 << 20;

/// How long feeds keep showing trashed events as cancelled, in seconds.
const CANCELLED_SECONDS: i64 = 30 * DAY_SECONDS;

const DAY_SECONDS: i64 = 24 * 3600;

/// A feed before its events have been read.
pub struct Feed {
    /// The entity tag. It can be computed before reading any events.
    pub tag: EntityTag,
    state: State,
    urls: Urls,
    params: Params,
    calendar: String,
    /// Events that were trashed at or after this time are shown as cancelled.
    cancelled_since: i64,
    /// Id of the event, if the feed consists of a single unlisted event.
    unlisted: Option<i64>,
    /// Whether each occurrence of a series is a separate entry because the feed is limited by date.
    is_of_dates: bool,
    /// Ids of the events whose whole series the feed contains. This list can be longer than a list
    /// request allows.
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

/// Returns the cutoff for trashed events, in Unix seconds. Feeds show events trashed since then as
/// cancelled.
pub fn cancelled_since(now: i64) -> i64 {
    // Round down to a whole day. Otherwise the tag would change every second.
    now - now.rem_euclid(DAY_SECONDS) - CANCELLED_SECONDS
}

/// Returns a feed of the public events that match these list parameters. The tag is derived from
/// the parameters and the number of the latest change, so nothing else has to be read if the client
/// is up to date.
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
