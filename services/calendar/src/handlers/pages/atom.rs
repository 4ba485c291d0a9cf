//! An Atom feed of newly published events.

use actix_web::HttpResponse;
use askama::Template;
use sha2::{Digest, Sha256};
use shell::Validators;

use super::site_map::{CACHING, rendered};
use super::visit::{Reader, Visit};
use crate::app::pages::{self, Announcements, site_map};
use crate::error::Error;
use crate::model::language::{Language, sentences};
use crate::model::schedule::instant_from_seconds;
use crate::wire::pages::card::EventCard;
use crate::wire::pages::query::ATOM;

/// Number of events in the feed.
const ENTRIES: i64 = 50;

/// Seconds in a quarter of an hour.
const QUARTER: i64 = 900;

#[derive(Template)]
#[template(path = "atom.xml")]
struct AtomFeed<'a> {
    name: &'a str,
    language: &'static str,
    /// The URL of the feed.
    url: String,
    /// The URL of the page that lists the same events.
    page: String,
    /// When any of the entries was last modified.
    updated: String,
    entries: Vec<Entry>,
}

struct Entry {
    id: String,
    url: String,
    title: String,
    summary: String,
    /// When the event was last modified. If it is in a series, this includes the moment at which it
    /// became the next event.
    updated: String,
    card: EventCard,
}

impl Entry {
    fn new(id: String, url: String, card: EventCard, language: Language) -> Entry {
        let words = language.words();
        let title = match card.status {
            "" => card.title.clone(),
            status => (words.status_and_title)(status, &card.title),
        };
        let facts = [&card.spoken, &card.when, &card.place].map(String::as_str);
        let known: Vec<&str> = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
        let facts = known.join(words.place_separator);
        let summary = match card.summary.as_str() {
            "" => facts,
            text => sentences(&language.sentence(&facts), text),
        };
        Entry { id, url, title, summary, updated: card.modified.clone(), card }
    }
}

/// Returns an entry for each event. All parts of a split series share the same entry.
fn entries_of(reader: &Reader, found: &mut Announcements) -> Vec<Entry> {
    let root = reader.root().trim_end_matches('/');
    let mut entries: Vec<Entry> = Vec::new();
    for card in found.list.groups.drain(..).flat_map(|group| group.cards) {
        let series = found.series.iter().find(|series| Some(series.id) == card.series);
        let url = card.href.strip_prefix(root).unwrap_or(&card.href);
        let url = format!("{}{url}", reader.urls().base);
        let origin = series.map_or(card.id, |series| series.origin);
        let has_left = series.is_none() && found.left.contains(&card.id);
        let id = id(&found.calendar, (origin, has_left));
        let mut entry = Entry::new(id, url, card, reader.language());
        if let Some(series) = series {
            entry.updated = instant_from_seconds(series.updated_utc()).to_string();
        }
        match entries.iter_mut().find(|known| known.id == entry.id) {
            Some(known) if entry.card.date < known.card.date => *known = entry,
            Some(_) => {}
            None => entries.push(entry),
        }
    }
    entries
}

/// Returns the entry id for an event or a series. `origin` is the event that the series started
/// with. The id doesn't depend on the slug, dates or language, or on whether the event has since
/// become a series, so feed readers recognise the entry. If an event was detached from its series,
/// it gets a different id, because the series keeps this one.
fn id(calendar: &str, (origin, has_left): (i64, bool)) -> String {
    let name = match origin {
        event @ 0.. if has_left => format!("{calendar} event {event} alone"),
        event @ 0.. => format!("{calendar} event {event}"),
        series => format!("{calendar} series {}", series.unsigned_abs()),
    };
    let digest = Sha256::digest(name);
    let number =
        digest.iter().take(16).fold(0, |number: u128, byte| (number << 8) | u128::from(*byte));
    // A version 8 UUID (RFC 9562), in which all other bits can have any value.
    let number = (number & !(0xf_u128 << 76)) | (8_u128 << 76);
    let number = (number & !(0b11_u128 << 62)) | (0b10_u128 << 62);
    let part = |from: u32, bits: u32| (number >> from) & ((1_u128 << bits) - 1);
    let (time, clock) = ((part(96, 32), part(80, 16), part(64, 16)), part(48, 16));
    let (low, middle, high) = time;
    format!("urn:uuid:{low:08x}-{middle:04x}-{high:04x}-{clock:04x}-{:012x}", part(0, 48))
}

/// Returns current and upcoming events as an Atom feed, most recently published first. Each series
/// has a single entry, for its next event.
pub async fn feed(visit: Visit) -> HttpResponse {
    visit.answer(shown).await
}

async fn shown(reader: &Reader) -> Result<HttpResponse, Error> {
    let (query, base) = (reader.query(), &reader.urls().base);
    // Events leave the feed when they are over, so the tag must change every day. In a series, the
    // next event takes over immediately, usually on a quarter of an hour.
    let quarter = (reader.state.clock.unix() - 1).div_euclid(QUARTER);
    let times = format!("{} {quarter}", reader.today());
    let name = [&query.href("atom", 1), reader.language().code(), &times].join(" ");
    let tag = site_map::tag(&reader.state, &reader.request, &name).await?;
    let validators = Validators::weak(tag);
    if validators.are_known(reader.headers()) {
        return Ok(reader.validated(validators, CACHING, |mut response| response.finish()));
    }
    let mut found = pages::announced(&reader.state, &reader.request, ENTRIES).await?;
    let entries = entries_of(reader, &mut found);
    let changed = instant_from_seconds(found.updated_utc).to_string();
    let changes = entries.iter().map(|entry| entry.updated.clone());
    let feed = AtomFeed {
        name: &reader.state.site.settings.site_name,
        language: reader.language().code(),
        url: format!("{base}{}", query.href(ATOM, 1)),
        page: format!("{base}{}", query.href("/events/", 1)),
        updated: changes.fold(changed, String::max),
        entries,
    };
    let text = rendered(&feed)?;
    Ok(reader.validated(validators, CACHING, |mut response| {
        response.content_type("application/atom+xml; charset=utf-8").body(text)
    }))
}
