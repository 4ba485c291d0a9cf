//! The fields that the events of a series share.

use super::event::{Event, Links};
use super::event_status::EventStatus;

/// An event along with everything else that it can share with its series.
#[derive(Clone, Debug, PartialEq)]
pub struct Shared {
    /// The event.
    pub event: Event,
    /// The event's links.
    pub links: Links,
    /// Whether the event is going ahead as announced.
    pub status: EventStatus,
}

/// The field name for start, end, zone and all-day flag taken together.
pub const DATES: &str = "dates";

/// The status field.
pub const STATUS: &str = "status";

/// Fields shared by the events in a series.
pub const FIELDS: [&str; 20] = [
    "title",
    "description",
    "excerpt",
    STATUS,
    "author",
    DATES,
    "website",
    "cost",
    "show_map",
    "show_map_link",
    "hide_from_listings",
    "sticky",
    "featured",
    "image",
    "password",
    "categories",
    "tags",
    "venue",
    "organizer",
    "event_status",
];

impl Shared {
    /// Returns the names of the fields that differ between the two events.
    pub fn differing(&self, other: &Shared) -> Vec<&'static str> {
        FIELDS.into_iter().filter(|field| !self.agrees(other, field)).collect()
    }

    fn agrees(&self, other: &Shared, field: &str) -> bool {
        let (a, b) = (&self.event, &other.event);
        match field {
            "title" => a.title == b.title,
            "description" => a.description == b.description,
            "excerpt" => a.excerpt == b.excerpt,
            STATUS => a.status == b.status,
            "author" => a.author == b.author,
            DATES => a.schedule == b.schedule,
            "website" => a.website == b.website,
            "cost" => a.cost == b.cost,
            "show_map" => a.show_map == b.show_map,
            "show_map_link" => a.show_map_link == b.show_map_link,
            "hide_from_listings" => a.listed == b.listed,
            "sticky" => a.sticky == b.sticky,
            "featured" => a.featured == b.featured,
            "image" => a.image == b.image,
            "password" => a.password == b.password,
            "categories" => self.links.categories == other.links.categories,
            "tags" => self.links.tags == other.links.tags,
            "venue" => self.links.venues == other.links.venues,
            "organizer" => self.links.organizers == other.links.organizers,
            _ => self.status == other.status,
        }
    }

    /// Returns a new draft with this event's author and dates and the title `title`, but no other
    /// text or links.
    pub fn without_texts(&self, title: String) -> Shared {
        let draft = Event::draft(self.event.author, self.event.schedule.clone(), 0, 0);
        let event = Event { title, ..draft };
        Shared { event, links: Links::default(), status: EventStatus::default() }
    }

    /// Copies a field other than the dates from another event.
    pub fn take(&mut self, field: &str, from: &Shared) {
        let (event, other) = (&mut self.event, &from.event);
        match field {
            "title" => event.title.clone_from(&other.title),
            "description" => event.description.clone_from(&other.description),
            "excerpt" => event.excerpt.clone_from(&other.excerpt),
            STATUS => {
                event.set_status(other.status.clone());
                (event.published_utc, event.published_local) =
                    (other.published_utc, other.published_local);
            }
            "author" => event.author = other.author,
            "website" => event.website.clone_from(&other.website),
            "cost" => event.cost.clone_from(&other.cost),
            "show_map" => event.show_map = other.show_map,
            "show_map_link" => event.show_map_link = other.show_map_link,
            "hide_from_listings" => event.listed = other.listed,
            "sticky" => event.sticky = other.sticky,
            "featured" => event.featured = other.featured,
            "image" => event.image = other.image,
            "password" => event.password.clone_from(&other.password),
            "categories" => self.links.categories.clone_from(&from.links.categories),
            "tags" => self.links.tags.clone_from(&from.links.tags),
            "venue" => self.links.venues.clone_from(&from.links.venues),
            "organizer" => self.links.organizers.clone_from(&from.links.organizers),
            "event_status" => self.status.clone_from(&from.status),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::schedule::Schedule;
    use crate::model::zone::Zone;

    #[test]
    fn fields_are_copied_until_nothing_differs() {
        let event = |title: &str| {
            let schedule = Schedule {
                zone: Zone::utc(),
                all_day: false,
                start_local: 0,
                end_local: 0,
                start_utc: 0,
                end_utc: 0,
            };
            Shared {
                event: Event { title: title.to_owned(), ..Event::draft(1, schedule, 0, 0) },
                links: Links::default(),
                status: EventStatus::default(),
            }
        };
        let (mut one, mut other) = (event("a"), event("b"));
        other.links.venues.push(3);
        (other.event.featured, other.event.website) = (true, "x".to_owned());
        let differing = one.differing(&other);
        assert_eq!(differing, ["title", "website", "featured", "venue"]);
        differing.iter().for_each(|field| one.take(field, &other));
        assert_eq!(one.differing(&other), Vec::<&str>::new());
    }
}
