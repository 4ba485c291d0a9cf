//! What a write names: every field optional, already validated.

use super::event::Event;
use super::geo::Point;
use super::html;
use super::image::ImageRef;
use super::linked::{Kind, Linked, Place};
use super::role::{self, User};
use super::schedule::ScheduleChange;
use super::status::Status;
use super::term::TermRef;
use super::when::NotADate;

/// A new publication date as (wall clock in the site's zone, Unix seconds).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Publication(pub Option<(i64, i64)>);

impl Publication {
    /// Returns the new date, or the old one where nothing new is named.
    pub fn over(self, old: (i64, i64)) -> (i64, i64) {
        self.0.unwrap_or(old)
    }
}

/// What an event write names.
#[derive(Clone, Debug, Default)]
pub struct EventChange {
    pub title: Option<String>,
    pub description: Option<String>,
    pub excerpt: Option<String>,
    pub slug: Option<String>,
    pub status: Option<Status>,
    pub author: Option<i64>,
    pub publication: Publication,
    pub schedule: ScheduleChange,
    pub cost: Option<Vec<String>>,
    pub website: Option<String>,
    pub show_map: Option<bool>,
    pub show_map_link: Option<bool>,
    pub hide_from_listings: Option<bool>,
    pub sticky: Option<bool>,
    pub featured: Option<bool>,
    pub password: Option<String>,
    pub image: Option<ImageRef>,
    pub categories: Option<Vec<TermRef>>,
    pub tags: Option<Vec<TermRef>>,
    pub venues: Option<Vec<LinkRef>>,
    pub organizers: Option<Vec<LinkRef>>,
}

impl EventChange {
    /// Applies a write; links, image rows and the slug are left to the store, which knows them.
    pub fn apply(
        &self,
        event: &mut Event,
        user: &User,
        creating: bool,
        now: i64,
    ) -> Result<(), NotADate> {
        let text = |slot: &mut String, new: &Option<String>| {
            if let Some(new) = new {
                slot.clone_from(new);
            }
        };
        let flag = |slot: &mut bool, new: Option<bool>| *slot = new.unwrap_or(*slot);
        text(&mut event.title, &self.title);
        text(&mut event.description, &self.description);
        text(&mut event.excerpt, &self.excerpt);
        text(&mut event.website, &self.website);
        flag(&mut event.show_map, self.show_map);
        flag(&mut event.show_map_link, self.show_map_link);
        flag(&mut event.sticky, self.sticky);
        flag(&mut event.featured, self.featured);
        if let Some(hidden) = self.hide_from_listings {
            event.listed = !hidden;
        }
        if let Some(password) = &self.password {
            event.password = Some(password.clone()).filter(|password| !password.is_empty());
        }
        if let Some(cost) = &self.cost {
            event.cost.clone_from(cost);
        }
        event.author = self.author.unwrap_or(event.author);
        let schedule = event.schedule.changed(&self.schedule)?;
        if !creating && schedule != event.schedule {
            event.sequence += 1;
        }
        event.schedule = schedule;
        (event.published_local, event.published_utc) =
            self.publication.over((event.published_local, event.published_utc));
        let current = (!creating).then_some(&event.status);
        let status = role::granted(user, self.status.clone(), current);
        event.set_status(status.agreeing_with(event.published_utc, now));
        event.modified_utc = now;
        Ok(())
    }
}

/// A venue or organizer as an event write names it.
#[derive(Clone, Debug)]
pub enum LinkRef {
    Id(i64),
    New(Box<LinkedChange>),
}

/// What a write of a venue or an organizer names.
#[derive(Clone, Debug, Default)]
pub struct LinkedChange {
    pub name: Option<String>,
    pub description: Option<String>,
    pub excerpt: Option<String>,
    pub slug: Option<String>,
    pub status: Option<Status>,
    pub author: Option<i64>,
    pub publication: Publication,
    pub image: Option<ImageRef>,
    pub phone: Option<String>,
    pub website: Option<String>,
    pub email: Option<String>,
    pub address: Option<String>,
    pub city: Option<String>,
    pub country: Option<String>,
    pub province: Option<String>,
    pub state: Option<String>,
    pub stateprovince: Option<String>,
    pub zip: Option<String>,
    pub show_map: Option<bool>,
    pub show_map_link: Option<bool>,
    pub geo: Option<Option<Point>>,
}

impl LinkedChange {
    /// Returns a new row of a kind with the defaults of a new one.
    pub fn blank(kind: Kind, author: i64, now: i64, now_local: i64) -> Linked {
        Linked {
            kind,
            id: 0,
            author,
            status: Status::of(super::status::Stage::Draft),
            previous: None,
            name: String::new(),
            description: String::new(),
            excerpt: String::new(),
            slug: String::new(),
            published_utc: now,
            published_local: now_local,
            modified_utc: now,
            image: None,
            phone: String::new(),
            website: String::new(),
            email: String::new(),
            place: Place { show_map: true, show_map_link: true, ..Place::default() },
        }
    }

    /// Tells whether anything beside the name is named, which a duplicate would take over.
    pub fn names_more_than_the_name(&self) -> bool {
        self.status.is_some()
            || self.author.is_some()
            || self.publication.0.is_some()
            || self.image.is_some()
            || self.show_map.is_some()
            || self.show_map_link.is_some()
            || self.geo.is_some()
            || self.texts().iter().any(|text| text.is_some())
    }

    fn texts(&self) -> [&Option<String>; 13] {
        [
            &self.description,
            &self.excerpt,
            &self.slug,
            &self.phone,
            &self.website,
            &self.email,
            &self.address,
            &self.city,
            &self.country,
            &self.province,
            &self.state,
            &self.stateprovince,
            &self.zip,
        ]
    }

    /// Applies the write to a row; image rows and the slug are left to the store.
    pub fn apply(&self, row: &mut Linked, user: &User, creating: bool, now: i64) {
        let text = |slot: &mut String, new: &Option<String>| {
            if let Some(new) = new {
                slot.clone_from(new);
            }
        };
        text(&mut row.name, &self.name);
        text(&mut row.description, &self.description);
        text(&mut row.excerpt, &self.excerpt);
        text(&mut row.phone, &self.phone);
        text(&mut row.website, &self.website);
        text(&mut row.email, &self.email);
        self.apply_place(&mut row.place);
        row.author = self.author.unwrap_or(row.author);
        (row.published_local, row.published_utc) =
            self.publication.over((row.published_local, row.published_utc));
        let current = (!creating).then_some(&row.status);
        let status = role::granted(user, self.status.clone(), current);
        let status = status.agreeing_with(row.published_utc, now);
        status.replace(&mut row.status, &mut row.previous);
        row.modified_utc = now;
    }

    fn apply_place(&self, place: &mut Place) {
        let text = |slot: &mut String, new: &Option<String>| {
            let changes = new.as_ref().is_some_and(|new| new != slot);
            if let Some(new) = new {
                slot.clone_from(new);
            }
            changes
        };
        text(&mut place.address, &self.address);
        text(&mut place.city, &self.city);
        text(&mut place.zip, &self.zip);
        let parts = [
            text(&mut place.country, &self.country),
            text(&mut place.province, &self.province),
            text(&mut place.state, &self.state),
        ];
        match &self.stateprovince {
            Some(given) if !given.is_empty() => place.stateprovince.clone_from(given),
            Some(_) => place.stateprovince = place.default_stateprovince(),
            None if parts.contains(&true) => place.stateprovince = place.default_stateprovince(),
            None => {}
        }
        place.show_map = self.show_map.unwrap_or(place.show_map);
        place.show_map_link = self.show_map_link.unwrap_or(place.show_map_link);
        if let Some(geo) = self.geo {
            place.geo = geo;
        }
    }

    /// Returns the folded name by which duplicates are found.
    pub fn folded_name(&self) -> String {
        super::search::fold(&html::plain(self.name.as_deref().unwrap_or_default()))
    }
}
