//! An event, and how a write changes it.

use super::change::EventChange;
use super::html;
use super::role::{self, Person};
use super::schedule::Schedule;
use super::search;
use super::status::Status;
use super::when::NotADate;

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

    /// Tells whether the event is counted among the long ones.
    pub fn is_long(&self) -> bool {
        self.schedule.end_utc - self.schedule.start_utc >= LONG
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

    /// Applies a write; links, image rows and the slug are left to the store, which knows them.
    pub fn apply(
        &mut self,
        change: &EventChange,
        person: &Person,
        creating: bool,
        now: i64,
    ) -> Result<(), NotADate> {
        let text = |slot: &mut String, new: &Option<String>| {
            if let Some(new) = new {
                slot.clone_from(new);
            }
        };
        let flag = |slot: &mut bool, new: Option<bool>| *slot = new.unwrap_or(*slot);
        text(&mut self.title, &change.title);
        text(&mut self.description, &change.description);
        text(&mut self.excerpt, &change.excerpt);
        text(&mut self.website, &change.website);
        flag(&mut self.show_map, change.show_map);
        flag(&mut self.show_map_link, change.show_map_link);
        flag(&mut self.sticky, change.sticky);
        flag(&mut self.featured, change.featured);
        if let Some(hidden) = change.hide_from_listings {
            self.listed = !hidden;
        }
        if let Some(password) = &change.password {
            self.password = Some(password.clone()).filter(|password| !password.is_empty());
        }
        if let Some(cost) = &change.cost {
            self.cost.clone_from(cost);
        }
        self.author = change.author.unwrap_or(self.author);
        let schedule = self.schedule.changed(&change.schedule)?;
        if !creating && schedule != self.schedule {
            self.sequence += 1;
        }
        self.schedule = schedule;
        (self.published_local, self.published_utc) =
            change.publication.over((self.published_local, self.published_utc));
        let current = (!creating).then_some(&self.status);
        let status = role::granted(person, change.status.clone(), current);
        self.set_status(status.agreeing_with(self.published_utc, now));
        self.modified_utc = now;
        Ok(())
    }

    /// Sets the status and remembers the one before the trash.
    pub fn set_status(&mut self, status: Status) {
        set_status(&mut self.status, &mut self.previous, status);
    }
}

/// Sets a status and remembers the one before the trash.
pub fn set_status(slot: &mut Status, previous: &mut Option<Status>, status: Status) {
    if status.is_trashed() && !slot.is_trashed() {
        *previous = Some(slot.clone());
    } else if !status.is_trashed() {
        *previous = None;
    }
    *slot = status;
}
