//! An Atom feed of newly published events.

use actix_web::HttpResponse;
use askama::Template;
use sha2::{Digest, Sha256};
use shell::Validators;

use super::site_map::{CACHING, rendered};
use super::visit::{Reader, Visit};
use crate::app::pages::{self, site_map};
use crate::error::Error;
use crate::model::language::{Language, sentences};
use crate::wire::pages::card::EventCard;
use crate::wire::pages::query::ATOM;

/// Number of events in the feed.
const ENTRIES: i64 = 50;

#[derive(Template)]
#[template(path = "atom.xml")]
struct AtomFeed<'a> {
    name: &'a str,
    language: &'static str,
    /// The URL of the feed.
    url: String,
    /// The page that lists the same events.
    page: String,
    /// When any entry last changed.
    updated: String,
    entries: Vec<Entry>,
}

struct Entry {
    id: String,
    url: String,
    title: String,
    summary: String,
    card: EventCard,
}

impl Entry {
    fn new(calendar: &str, url: String, card: EventCard, language: Language) -> Entry {
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
        Entry { id: id(calendar, &card), url, title, summary, card }
    }
}

/// Returns the id of an event or of its series. It does not change with the slug, the dates or the
/// language, so feed readers recognise the entry.
fn id(calendar: &str, card: &EventCard) -> String {
    let name = match card.series {
        Some(series) => format!("{calendar} series {series}"),
        None => format!("{calendar} event {}", card.id),
    };
    let digest = Sha256::digest(name);
    let number =
        digest.iter().take(16).fold(0, |number: u128, byte| (number << 8) | u128::from(*byte));
    // Version 8 of RFC 9562: the other bits are up to us.
    let number = (number & !(0xf_u128 << 76)) | (8_u128 << 76);
    let number = (number & !(0b11_u128 << 62)) | (0b10_u128 << 62);
    let part = |from: u32, bits: u32| (number >> from) & ((1_u128 << bits) - 1);
    let (time, clock) = ((part(96, 32), part(80, 16), part(64, 16)), part(48, 16));
    let (low, middle, high) = time;
    format!("urn:uuid:{low:08x}-{middle:04x}-{high:04x}-{clock:04x}-{:012x}", part(0, 48))
}

/// Returns current and upcoming events as an Atom feed. The most recently published event comes
/// first. A series is one entry, with its next event.
pub async fn feed(visit: Visit) -> HttpResponse {
    visit.answer(shown).await
}

async fn shown(reader: &Reader) -> Result<HttpResponse, Error> {
    let (query, base) = (reader.query(), &reader.urls().base);
    // Events leave the feed once they are over, so the tag must change every day.
    let name =
        [&query.href("atom", 1), reader.language().code(), &reader.today().to_string()].join(" ");
    let tag = site_map::tag(&reader.state, &reader.request, &name).await?;
    let validators = Validators::weak(tag);
    if validators.are_known(reader.headers()) {
        return Ok(reader.validated(validators, CACHING, |mut response| response.finish()));
    }
    let (calendar, list) = pages::announced(&reader.state, &reader.request, ENTRIES).await?;
    let root = reader.root().trim_end_matches('/');
    let entries = list.groups.into_iter().flat_map(|group| group.cards).map(|card| {
        let url = format!("{base}{}", card.href.strip_prefix(root).unwrap_or(&card.href));
        Entry::new(&calendar, url, card, reader.language())
    });
    let entries: Vec<Entry> = entries.collect();
    let changes = entries.iter().map(|entry| entry.card.modified.as_str());
    let feed = AtomFeed {
        name: &reader.state.site.settings.site_name,
        language: reader.language().code(),
        url: format!("{base}{}", query.href(ATOM, 1)),
        page: format!("{base}{}", query.href("/events/", 1)),
        updated: changes.max().unwrap_or("1970-01-01T00:00:00Z").to_owned(),
        entries,
    };
    let text = rendered(&feed)?;
    Ok(reader.validated(validators, CACHING, |mut response| {
        response.content_type("application/atom+xml; charset=utf-8").body(text)
    }))
}
