//! Event cards, as shown in lists.

use jiff::civil::Date;

use super::Link;
use crate::model::cost;
use crate::model::event::{Event, Links};
use crate::model::html;
use crate::model::included::Included;
use crate::model::language::{Language, capitalized};
use crate::model::linked::Linked;
use crate::model::price;
use crate::model::schedule::instant_from_seconds;
use crate::model::search;
use crate::model::spoken;
use crate::model::term::Term;
use crate::wire::render_context::RenderContext;

/// Maximum length of a summary in characters.
const SUMMARY: usize = 180;

/// An event as shown in a list.
#[derive(Clone, Debug)]
pub struct EventCard {
    pub id: i64,
    /// The id of the event's series, if any.
    pub series: Option<i64>,
    pub title: String,
    pub href: String,
    /// The first day, in ISO format.
    pub date: String,
    pub weekday: String,
    pub day: String,
    pub month: String,
    /// The first day, spelled out.
    pub spoken: String,
    /// The first day, spelled out with abbreviations.
    pub abbreviated: String,
    pub when: String,
    pub place: String,
    pub cost: String,
    pub summary: String,
    pub categories: Vec<Link>,
    pub featured: bool,
    /// The status, e.g. `Cancelled`. Empty if the event is going ahead as announced.
    pub status: &'static str,
    pub protected: bool,
    /// Whether the event starts on the same day as the previous event in the list.
    pub same_day: bool,
    /// When the event was published and last modified, in UTC.
    pub published: String,
    pub modified: String,
}

/// Events under the same heading.
#[derive(Clone, Debug)]
pub struct CardGroup {
    pub name: String,
    pub cards: Vec<EventCard>,
}

/// How headings divide an event list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Headings {
    /// By the month in which events start.
    Months,
    /// By the day on which events start.
    Days,
}

/// Groups events by the month or day on which they start. Events that are already running on
/// `first` form a separate group.
pub fn groups(
    events: &[Event],
    included: &Included,
    view: RenderContext<'_>,
    (headings, first): (Headings, Date),
) -> Vec<CardGroup> {
    let (language, words) = (view.language, view.language.words());
    let mut groups: Vec<CardGroup> = Vec::new();
    for event in events {
        let (start, end) = spoken::ends(&event.schedule);
        let running = start.date() < first && end.date() >= first;
        let name = match headings {
            Headings::Months if running => words.on_now.to_owned(),
            Headings::Days if running => words.already_running.to_owned(),
            Headings::Months => capitalized(&language.month(start.date())),
            Headings::Days => capitalized(&language.day(start.date())),
        };
        let mut card = card(event, included, view, running);
        match groups.last_mut() {
            Some(group) if group.name == name => {
                card.same_day = group.cards.last().is_some_and(|last| last.date == card.date);
                group.cards.push(card);
            }
            _ => groups.push(CardGroup { name, cards: vec![card] }),
        }
    }
    groups
}

/// Renders an event in a list. A password-protected event only shows its title and times.
fn card(event: &Event, included: &Included, view: RenderContext<'_>, running: bool) -> EventCard {
    let (language, words) = (view.language, view.language.words());
    let first = spoken::ends(&event.schedule).0.date();
    let bare = EventCard {
        id: event.id,
        series: included.series.get(&event.id).map(|one| one.series.id),
        title: html::plain(&event.title),
        href: view.urls.event_page(&event.slug),
        date: first.to_string(),
        weekday: language.short_weekday(first.weekday()).to_owned(),
        day: first.day().to_string(),
        month: language.short_month(first).to_owned(),
        spoken: capitalized(&language.day(first)),
        abbreviated: capitalized(&language.abbreviated_day(first)),
        when: when(event, view, running),
        place: String::new(),
        cost: String::new(),
        summary: String::new(),
        categories: Vec::new(),
        featured: false,
        status: included.occurring(event.id).word(words),
        protected: true,
        same_day: false,
        published: instant_from_seconds(event.published_utc).to_string(),
        modified: instant_from_seconds(event.modified_utc).to_string(),
    };
    if event.password.is_some() {
        return bare;
    }
    let none = Links::default();
    let links = included.links.get(&event.id).unwrap_or(&none);
    let venue = links.venues.iter().find_map(|id| included.venues.get(id));
    EventCard {
        place: venue.map(|venue| place(venue, language)).unwrap_or_default(),
        cost: price(event, view),
        summary: summary(event),
        categories: terms(&links.categories, included, view),
        featured: event.featured,
        protected: false,
        ..bare
    }
}

fn when(event: &Event, view: RenderContext<'_>, running: bool) -> String {
    let (schedule, language) = (&event.schedule, view.language);
    let (start, end) = spoken::ends(schedule);
    if running && schedule.all_day {
        return (language.words().until)(&language.short_day(end.date()));
    } else if running {
        return (language.words().until_time)(&language.moment(end));
    }
    if !spoken::is_one_sitting(schedule) {
        return language.days(start.date(), end.date());
    }
    match zone(event, view) {
        zone if zone.is_empty() => spoken::hours(schedule, language),
        zone => format!("{} {zone}", spoken::hours(schedule, language)),
    }
}

/// Returns the abbreviation of an event's time zone, or an empty string for all-day events and
/// events in the site's zone.
pub fn zone(event: &Event, view: RenderContext<'_>) -> String {
    let schedule = &event.schedule;
    match schedule.all_day || schedule.zone.name() == view.zone.name() {
        true => String::new(),
        false => schedule.zone.abbreviation(instant_from_seconds(schedule.start_utc)),
    }
}

/// Describes a venue's location in a few words.
pub fn place(venue: &Linked, language: Language) -> String {
    let parts = [html::plain(&venue.name), html::without_tags(&venue.place.city)];
    let known: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    known.join(language.words().place_separator)
}

/// Formats an event's price.
pub fn price(event: &Event, view: RenderContext<'_>) -> String {
    let cost = cost::read(&event.cost, view.currency);
    html::without_tags(&price::shown(&cost, view.currency, view.language))
}

/// Returns the beginning of an event's excerpt, or of its description if the excerpt is empty.
pub fn summary(event: &Event) -> String {
    let mut said = [&event.excerpt, &event.description].into_iter().map(|text| head(text));
    said.find(|text| !text.is_empty()).unwrap_or_default()
}

/// Collapses HTML to a single line of text, with single spaces between words.
pub fn words(text: &str) -> String {
    html::text(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Strips tags and truncates the text at a word boundary.
pub fn head(text: &str) -> String {
    let shown = words(text);
    let Some((end, _)) = shown.char_indices().nth(SUMMARY) else { return shown };
    let cut = shown.get(..end).unwrap_or_default();
    let words = cut.rsplit_once(' ').map_or(cut, |(words, _)| words);
    format!("{}…", words.trim_end_matches([',', ';', ':', '.', ' ']))
}

/// Returns links to terms, sorted by name.
pub fn terms(ids: &[i64], included: &Included, view: RenderContext<'_>) -> Vec<Link> {
    let mut terms: Vec<&Term> = ids.iter().filter_map(|id| included.terms.get(id)).collect();
    terms.sort_by_cached_key(|term| (search::fold_name(&term.name), term.id));
    let link = |term: &Term| Link {
        text: term.name.clone(),
        href: view.urls.term_page(term.taxonomy, &included.path(term)),
    };
    terms.into_iter().map(link).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_end_between_words() {
        assert_eq!(head("<p>Short &amp; sweet</p><h2>And</h2>more"), "Short & sweet And more");
        let long = head(&"wörd, ".repeat(100));
        assert!(long.ends_with("wörd…") && long.chars().count() <= SUMMARY, "{long}");
        assert_eq!(head(&"x".repeat(300)).chars().count(), SUMMARY + 1);
    }
}
