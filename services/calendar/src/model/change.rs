//! Fields of write requests. All are optional and have already been validated.

use super::event::Event;
use super::event_status::EventStatusChange;
use super::geo::Point;
use super::html;
use super::image::ImageRef;
use super::linked::{Kind, Linked, Place};
use super::role::{self, User};
use super::schedule::ScheduleChange;
use super::series::{Reach, Recurrence};
use super::series_fields::Shared;
use super::status::Status;
use super::term::TermRef;
use super::when::NotADate;

/// The new publication date as (local time in the site's zone, Unix seconds), or `None` to keep the
/// current one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Publication(pub Option<(i64, i64)>);

impl Publication {
    /// Returns the new date, or the old one if no new date was given.
    pub fn over(self, old: (i64, i64)) -> (i64, i64) {
        self.0.unwrap_or(old)
    }
}

/// Fields shared by event, venue and organizer writes. Fields that are `None` keep their value.
#[derive(Clone, Debug, Default)]
pub struct PostChange {
    /// The description as HTML.
    pub description: Option<String>,
    /// The excerpt as HTML.
    pub excerpt: Option<String>,
    /// The slug.
    pub slug: Option<String>,
    /// The status.
    pub status: Option<Status>,
    /// Id of the user who owns the resource.
    pub author: Option<i64>,
    /// The publication date.
    pub publication: Publication,
    /// The image.
    pub image: Option<ImageRef>,
}

impl PostChange {
    /// Returns the status after the change. `current` is `None` for new rows.
    ///
    /// A published row stays published until its date changes, even if the clock is set back or a
    /// replica's clock is behind.
    fn status_after(
        &self,
        user: &User,
        current: Option<&Status>,
        (published_utc, is_dated): (i64, bool),
        now: i64,
    ) -> Status {
        let granted = role::granted(user, self.status.clone(), current);
        match current == Some(&granted) && granted.is_published() && !is_dated {
            true => granted,
            false => granted.agreeing_with(published_utc, now),
        }
    }
}

/// Replaces `old` unless both strings render identically. Clients send back the rendered form,
/// which doesn't count as a change.
fn replace_shown(old: &mut String, new: Option<&String>, show: fn(&str) -> String) {
    if let Some(new) = new
        && new != old
        && show(new) != show(old)
    {
        old.clone_from(new);
    }
}

/// Replaces `old` with the new value, if any. Returns whether it changed.
fn replace(old: &mut String, new: Option<&String>) -> bool {
    let Some(new) = new else { return false };
    let differs = new != old;
    old.clone_from(new);
    differs
}

/// The fields of an event write. Fields that are `None` keep their value.
#[derive(Clone, Debug, Default)]
pub struct EventChange {
    /// The title. May contain inline HTML.
    pub title: Option<String>,
    /// The fields shared by all posts.
    pub post: PostChange,
    /// Start, end, zone and all-day flag.
    pub schedule: ScheduleChange,
    /// The cost, as one string per price, as sent by the client.
    pub cost: Option<Vec<String>>,
    /// The website. An empty string removes it.
    pub website: Option<String>,
    /// Whether to show a map.
    pub show_map: Option<bool>,
    /// Whether to show a link to a map.
    pub show_map_link: Option<bool>,
    /// Whether to leave the event out of lists.
    pub hide_from_listings: Option<bool>,
    /// Whether the event is sticky. This has no effect.
    pub sticky: Option<bool>,
    /// Whether the event is featured.
    pub featured: Option<bool>,
    /// The password that protects the event. An empty string removes it.
    pub password: Option<String>,
    /// Whether the event is going ahead as announced.
    pub event_status: EventStatusChange,
    /// The categories. They replace the current ones.
    pub categories: Option<Vec<TermRef>>,
    /// The tags. They replace the current ones.
    pub tags: Option<Vec<TermRef>>,
    /// The venues. They replace the current ones.
    pub venues: Option<Vec<LinkRef>>,
    /// The organizers. They replace the current ones.
    pub organizers: Option<Vec<LinkRef>>,
    /// How the event repeats.
    pub recurrence: Option<Recurrence>,
    /// Whether the recurrence in the request is `null`, which can't be used to end a series.
    pub has_null_recurrence: bool,
    /// The events in the series that the change applies to.
    pub reach: Reach,
    /// The external id. Can't be set over HTTP.
    pub external_id: Option<String>,
    /// The first event in the series. Can't be set over HTTP.
    pub parent: Option<i64>,
    /// An occurrence's slug. Can't be set over HTTP.
    pub date_slug: Option<String>,
    /// Fields that a new occurrence inherits from its series. Can't be set over HTTP.
    pub taken: Option<Box<TakenFields>>,
}

/// Fields that a new occurrence inherits from its series instead of taking them from the change.
#[derive(Clone, Debug)]
pub struct TakenFields {
    /// The values.
    pub from: Shared,
    /// Names of the fields.
    pub fields: Vec<&'static str>,
}

impl TakenFields {
    /// Replaces the fields of an event.
    pub fn replace_in(&self, new: &mut Shared) {
        self.fields.iter().for_each(|field| new.take(field, &self.from));
    }
}

impl EventChange {
    /// Drops empty values for fields that responses leave blank while an event is protected by a
    /// password. Otherwise, sending back such a response would erase what it didn't show.
    pub fn keep_blanked(&mut self) {
        fn keep(text: &mut Option<String>) {
            *text = text.take().filter(|text| !text.is_empty());
        }
        fn keep_all<T>(list: &mut Option<Vec<T>>) {
            *list = list.take().filter(|list| !list.is_empty());
        }
        keep(&mut self.post.description);
        keep(&mut self.post.excerpt);
        keep(&mut self.website);
        keep(&mut self.event_status.reason);
        self.post.image = self.post.image.take().filter(|image| *image != ImageRef::Clear);
        keep_all(&mut self.cost);
        keep_all(&mut self.categories);
        keep_all(&mut self.tags);
        keep_all(&mut self.venues);
        keep_all(&mut self.organizers);
    }

    /// Applies the change to an event, except for links, image and slug, which the store handles.
    pub fn apply(
        &self,
        event: &mut Event,
        user: &User,
        creating: bool,
        now: i64,
    ) -> Result<(), NotADate> {
        let flag = |slot: &mut bool, new: Option<bool>| *slot = new.unwrap_or(*slot);
        replace_shown(&mut event.title, self.title.as_ref(), html::title);
        let (description, excerpt) = (self.post.description.as_ref(), self.post.excerpt.as_ref());
        replace_shown(&mut event.description, description, html::paragraphs);
        replace_shown(&mut event.excerpt, excerpt, html::paragraphs);
        replace(&mut event.website, self.website.as_ref());
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
        if let Some(id) = &self.external_id {
            event.external_id = Some(id.clone());
        }
        event.parent = self.parent.or(event.parent);
        if let Some(cost) = &self.cost {
            event.cost.clone_from(cost);
        }
        event.author = self.post.author.unwrap_or(event.author);
        let schedule = event.schedule.changed(&self.schedule)?;
        if !creating && schedule != event.schedule {
            event.sequence += 1;
        }
        event.schedule = schedule;
        let published = event.published_utc;
        (event.published_local, event.published_utc) =
            self.post.publication.over((event.published_local, event.published_utc));
        let current = (!creating).then_some(&event.status);
        let dated = (event.published_utc, event.published_utc != published);
        let status = self.post.status_after(user, current, dated, now);
        event.set_status(status);
        event.modified_utc = now;
        Ok(())
    }
}

/// A venue or organizer in an event write.
#[derive(Clone, Debug)]
pub enum LinkRef {
    /// The id of an existing venue or organizer.
    Id(i64),
    /// A new venue or organizer to create along with the event.
    New(Box<LinkedChange>),
}

/// The fields of a venue or organizer write.
#[derive(Clone, Debug, Default)]
pub struct LinkedChange {
    /// The name.
    pub name: Option<String>,
    /// The fields shared by all posts.
    pub post: PostChange,
    /// The phone number.
    pub phone: Option<String>,
    /// The website. An empty string removes it.
    pub website: Option<String>,
    /// The email address.
    pub email: Option<String>,
    /// Street name and number.
    pub address: Option<String>,
    /// The city.
    pub city: Option<String>,
    /// The country.
    pub country: Option<String>,
    /// The province.
    pub province: Option<String>,
    /// The state.
    pub state: Option<String>,
    /// The state or province to display.
    pub stateprovince: Option<String>,
    /// The postal code.
    pub zip: Option<String>,
    /// Whether to show a map.
    pub show_map: Option<bool>,
    /// Whether to show a link to a map.
    pub show_map_link: Option<bool>,
    /// The coordinates. `Some(None)` removes them.
    pub geo: Option<Option<Point>>,
}

impl LinkedChange {
    /// Creates an empty venue or organizer with default values.
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

    /// Returns whether any field other than the name is set. If so, the write can change an
    /// existing row with the same name.
    pub fn has_fields_besides_name(&self) -> bool {
        self.post.status.is_some()
            || self.post.author.is_some()
            || self.post.publication.0.is_some()
            || self.post.image.is_some()
            || self.show_map.is_some()
            || self.show_map_link.is_some()
            || self.geo.is_some()
            || self.texts().iter().any(|text| text.is_some())
    }

    fn texts(&self) -> [&Option<String>; 13] {
        [
            &self.post.description,
            &self.post.excerpt,
            &self.post.slug,
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

    /// Applies the change to a row, except for image and slug, which the store handles.
    pub fn apply(&self, row: &mut Linked, user: &User, creating: bool, now: i64) {
        replace_shown(&mut row.name, self.name.as_ref(), html::title);
        let (description, excerpt) = (self.post.description.as_ref(), self.post.excerpt.as_ref());
        replace_shown(&mut row.description, description, html::paragraphs);
        replace_shown(&mut row.excerpt, excerpt, html::paragraphs);
        replace(&mut row.phone, self.phone.as_ref());
        replace(&mut row.website, self.website.as_ref());
        replace(&mut row.email, self.email.as_ref());
        self.apply_place(&mut row.place);
        row.author = self.post.author.unwrap_or(row.author);
        let published = row.published_utc;
        (row.published_local, row.published_utc) =
            self.post.publication.over((row.published_local, row.published_utc));
        let current = (!creating).then_some(&row.status);
        let dated = (row.published_utc, row.published_utc != published);
        let status = self.post.status_after(user, current, dated, now);
        status.replace(&mut row.status, &mut row.previous);
        row.modified_utc = now;
    }

    fn apply_place(&self, place: &mut Place) {
        replace(&mut place.address, self.address.as_ref());
        replace(&mut place.city, self.city.as_ref());
        replace(&mut place.zip, self.zip.as_ref());
        let parts = [
            replace(&mut place.country, self.country.as_ref()),
            replace(&mut place.province, self.province.as_ref()),
            replace(&mut place.state, self.state.as_ref()),
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

    /// Returns the case-folded name, for detecting duplicates.
    pub fn folded_name(&self) -> String {
        super::search::fold_name(&html::plain(self.name.as_deref().unwrap_or_default()))
    }
}
