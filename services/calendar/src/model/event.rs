//! An event and what it is linked to.

use super::html;
use super::schedule::Schedule;
use super::search;
use super::status::Status;

/// Events at least this long are counted apart, in seconds.
pub const LONG: i64 = 30 * 24 * 3600;

/// An event without its links.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub id: i64,
    pub author: i64,
    pub status: Status,
    pub previous: Option<Status>,
    pub title: String,
    pub description: String,
    pub excerpt: String,
    pub slug: String,
    pub published_utc: i64,
    pub published_local: i64,
    pub modified_utc: i64,
    pub schedule: Schedule,
    pub cost: Vec<String>,
    pub website: String,
    pub show_map: bool,
    pub show_map_link: bool,
    pub listed: bool,
    pub sticky: bool,
    pub featured: bool,
    pub image: Option<i64>,
    pub parent: Option<i64>,
    pub password: Option<String>,
    pub ical_uid: Option<String>,
    pub sequence: i64,
}

/// What an event is linked to, by id and in the order of the links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    pub categories: Vec<i64>,
    pub tags: Vec<i64>,
    pub venues: Vec<i64>,
    pub organizers: Vec<i64>,
}

impl Event {
    /// Returns an event with nothing but an author, a time and the defaults of a new one.
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
            ical_uid: None,
            sequence: 0,
        }
    }

    /// Tells whether the event stands in public lists.
    pub fn is_public(&self) -> bool {
        self.status.is_published() && self.listed
    }

    /// Tells whether the event is counted among the long ones, on either clock.
    pub fn is_long(&self) -> bool {
        let schedule = &self.schedule;
        schedule.end_utc - schedule.start_utc >= LONG
            || schedule.end_local - schedule.start_local >= LONG
    }

    /// Returns the folded text that `search` looks into.
    pub fn searched(&self) -> String {
        let text = format!(
            "{}\n{}\n{}",
            html::plain(&self.title),
            html::plain(&self.excerpt),
            html::plain(&self.description)
        );
        search::fold(&text)
    }

    /// Sets the status and remembers the one before the trash.
    pub fn set_status(&mut self, status: Status) {
        status.replace(&mut self.status, &mut self.previous);
    }
}
