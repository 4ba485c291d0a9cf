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
    /// Its id.
    pub id: i64,
    /// Id of the user who owns it.
    pub author: i64,
    /// The status.
    pub status: Status,
    /// The status before the trash.
    pub previous: Option<Status>,
    /// The title, with inline HTML.
    pub title: String,
    /// The description, HTML.
    pub description: String,
    /// The excerpt, HTML.
    pub excerpt: String,
    /// The slug.
    pub slug: String,
    /// Date of publication, Unix seconds.
    pub published_utc: i64,
    /// Date of publication on the clock of the site.
    pub published_local: i64,
    /// Last change, Unix seconds.
    pub modified_utc: i64,
    /// When it takes place.
    pub schedule: Schedule,
    /// The cost, as sent.
    pub cost: Vec<String>,
    /// The website; empty for none.
    pub website: String,
    /// Whether a map is shown.
    pub show_map: bool,
    /// Whether a link to a map is shown.
    pub show_map_link: bool,
    /// Whether lists show it.
    pub listed: bool,
    /// Whether it is marked as sticky, without an effect.
    pub sticky: bool,
    /// Whether it is featured.
    pub featured: bool,
    /// Id of its image.
    pub image: Option<i64>,
    /// The first event of a series.
    pub parent: Option<i64>,
    /// What it takes to read it.
    pub password: Option<String>,
    /// Its external id: the UID of the file, or the `external_id` of the load, that it came from.
    pub external_id: Option<String>,
    /// How often its time has changed.
    pub sequence: i64,
}

/// What an event is linked to, by id and in the order of the links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// Its categories.
    pub categories: Vec<i64>,
    /// Its tags.
    pub tags: Vec<i64>,
    /// Its venues.
    pub venues: Vec<i64>,
    /// Its organizers.
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
            external_id: None,
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

    /// Returns the folded text that `search` looks into: of a protected event the title alone, as
    /// searches would tell which words the rest holds.
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

    /// Sets the status and remembers the one before the trash.
    pub fn set_status(&mut self, status: Status) {
        status.replace(&mut self.status, &mut self.previous);
    }
}
