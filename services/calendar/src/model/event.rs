//! Events and their links to terms, venues and organizers.

use super::html;
use super::schedule::Schedule;
use super::search;
use super::status::Status;

/// Events that last at least this number of seconds count as long.
pub const LONG: i64 = 30 * 24 * 3600;

/// An event without its links.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The id, which is unique among events, venues, organizers and images.
    pub id: i64,
    /// Id of the user who owns the event.
    pub author: i64,
    /// The status.
    pub status: Status,
    /// The status before it was moved to the trash.
    pub previous: Option<Status>,
    /// The title, which may contain inline HTML.
    pub title: String,
    /// The description, as HTML.
    pub description: String,
    /// The excerpt, as HTML.
    pub excerpt: String,
    /// The slug.
    pub slug: String,
    /// When it was published, in Unix seconds.
    pub published_utc: i64,
    /// Date of publication in the site's local time.
    pub published_local: i64,
    /// When it was last changed, in Unix seconds.
    pub modified_utc: i64,
    /// Start, end, zone and all-day flag.
    pub schedule: Schedule,
    /// The cost: one string per price, as sent by the client.
    pub cost: Vec<String>,
    /// The website; empty if there is none.
    pub website: String,
    /// Whether a map is shown.
    pub show_map: bool,
    /// Whether a link to a map is shown.
    pub show_map_link: bool,
    /// Whether lists include the event.
    pub listed: bool,
    /// Whether it is marked as sticky, which has no effect.
    pub sticky: bool,
    /// Whether the event is featured.
    pub featured: bool,
    /// Id of the image, or `None` if there is none.
    pub image: Option<i64>,
    /// Id of the first event of its series.
    pub parent: Option<i64>,
    /// The password that protects the event, or `None` if it is not protected.
    pub password: Option<String>,
    /// The external id: the UID in an imported file, or the `external_id` of a loaded line.
    pub external_id: Option<String>,
    /// Number of times that the schedule has changed.
    pub sequence: i64,
}

/// Ids of the resources that an event is linked to, in link order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// Ids of the categories.
    pub categories: Vec<i64>,
    /// Ids of the tags.
    pub tags: Vec<i64>,
    /// Ids of the venues.
    pub venues: Vec<i64>,
    /// Ids of the organizers.
    pub organizers: Vec<i64>,
}

impl Event {
    /// Returns a new event with default values.
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

    /// Returns the time of creation that feeds show.
    pub fn created_utc(&self) -> i64 {
        self.published_utc.min(self.modified_utc)
    }

    /// Returns whether public lists include the event.
    pub fn is_public(&self) -> bool {
        self.status.is_published() && self.listed
    }

    /// Returns whether the event lasts at least [`LONG`], in local time or in UTC.
    pub fn is_long(&self) -> bool {
        let schedule = &self.schedule;
        schedule.end_utc - schedule.start_utc >= LONG
            || schedule.end_local - schedule.start_local >= LONG
    }

    /// Returns the folded text that `search` matches. For a password-protected event this is only
    /// the title, because search results would otherwise reveal words of its content.
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

    /// Sets the status. When the event enters the trash, remembers the previous status.
    pub fn set_status(&mut self, status: Status) {
        status.replace(&mut self.status, &mut self.previous);
    }
}
