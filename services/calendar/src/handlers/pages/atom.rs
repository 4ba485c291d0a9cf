//! An Atom feed of newly published events.

use actix_web::HttpResponse;
use askama::Template;
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
    url: String,
    title: String,
    summary: String,
    card: EventCard,
}

impl Entry {
    fn new(url: String, card: EventCard, language: Language) -> Entry {
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
        Entry { url, title, summary, card }
    }
}

/// Returns current and upcoming events as an Atom feed. The most recently published event comes
/// first.
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
    let list = pages::announced(&reader.state, &reader.request, ENTRIES).await?;
    let root = reader.root().trim_end_matches('/');
    let entries = list.groups.into_iter().flat_map(|group| group.cards).map(|card| {
        let url = format!("{base}{}", card.href.strip_prefix(root).unwrap_or(&card.href));
        Entry::new(url, card, reader.language())
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
