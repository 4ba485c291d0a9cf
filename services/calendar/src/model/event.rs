//! Events and their links to terms, venues and organizers.

use super::html;
use super::schedule::Schedule;
use super::search;
use super::status::Status;

/// Minimum duration of a long event, in seconds.
pub const LONG: i64 = 30 * 24 * 3600;

/// An event without its links.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The id, unique across events, venues, organizers and images.
    pub id: i64,
    /// Id of the user who owns the event.
    pub author: i64,
    /// The status.
    pub status: Status,
    /// The status before the event was trashed.
    pub previous: Option<Status>,
    /// The title. May contain inline HTML.
    pub title: String,
    /// The description as HTML.
    pub description: String,
    /// The excerpt as HTML.
    pub excerpt: String,
    /// The slug.
    pub slug: String,
    /// Publication time in Unix seconds.
    pub published_utc: i64,
    /// Publication time in the site's local time.
    pub published_local: i64,
    /// Time of the last change in Unix seconds.
    pub modified_utc: i64,
    /// Start, end, zone and all-day flag.
    pub schedule: Schedule,
    /// The cost, as one string per price, as sent by the client.
    pub cost: Vec<String>,
    /// The website. Empty if there isn't one.
    pub website: String,
    /// Whether to show a map.
    pub show_map: bool,
    /// Whether to show a link to a map.
    pub show_map_link: bool,
    /// Whether the event appears in lists.
    pub listed: bool,
    /// Whether the event is sticky. This has no effect.
    pub sticky: bool,
    /// Whether the event is featured.
    pub featured: bool,
    /// Id of the image, if any.
    pub image: Option<i64>,
    /// Id of the first event in the series.
    pub parent: Option<i64>,
    /// The password, if the event is protected.
    pub password: Option<String>,
    /// The external id, which is the UID if the event was imported from a calendar file, or the
    /// `external_id` if it was loaded.
    pub external_id: Option<String>,
    /// The event's revision in feeds (`SEQUENCE`).
    pub sequence: i64,
}

/// Ids of the resources that an event is linked to, in link order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// Category ids.
    pub categories: Vec<i64>,
    /// Tag ids.
    pub tags: Vec<i64>,
    /// Venue ids.
    pub venues: Vec<i64>,
    /// Organizer ids.
    pub organizers: Vec<i64>,
}

impl Event {
    /// Creates a draft with default values.
    pub fn draft(author: i64, schedule: Schedule, now: i64, now_local: i64) -> Event {
        Event {
            id: 0,
            author,
            status: Status::of(super::status::Stage::Draft),
            previous: None,
            title: String::new(),
            description: String::new(),
            excerpt: String::new(),
            slug: String::new(),
            published_utc: now,
            published_local: now_local,
            modified_utc: now,
            schedule,
            cost: Vec::new(),
            website: String::new(),
            show_map: false,
            show_map_link: false,
            listed: true,
            sticky: false,
            featured: false,
            image: None,
            parent: None,
            password: None,
            external_id: None,
            sequence: 0,
        }
    }

    /// Returns the creation time to show in feeds.
    pub fn created_utc(&self) -> i64 {
        self.published_utc.min(self.modified_utc)
    }

    /// Returns whether the event appears in public lists.
    pub fn is_public(&self) -> bool {
        self.status.is_published() && self.listed
    }

    /// Returns whether the event lasts at least [`LONG`] in either local time or UTC.
    pub fn is_long(&self) -> bool {
        let schedule = &self.schedule;
        schedule.end_utc - schedule.start_utc >= LONG
            || schedule.end_local - schedule.start_local >= LONG
    }

    /// Returns the case-folded text that `search` matches. For a password-protected event, this is
    /// only the title, because search results could otherwise reveal words from its content.
    pub fn searched(&self) -> String {
        if self.password.is_some() {
            return search::fold(&html::plain(&self.title));
        }
        let text = format!(
            "{}\n{}\n{}",
            html::plain(&self.title),
            html::plain(&self.excerpt),
            html::plain(&self.description)
        );
        search::fold(&text)
    }

    /// Sets the status. If the event is being trashed, remembers the previous one.
    pub fn set_status(&mut self, status: Status) {
        status.replace(&mut self.status, &mut self.previous);
    }
}
