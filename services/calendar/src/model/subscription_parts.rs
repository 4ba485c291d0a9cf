//! The parts of an event that a subscription writes, unless users have changed them.

use super::event::{Event, Links};
use super::event_status::EventStatus;

/// A field, or group of fields, that subscriptions write to. Once users have changed it,
/// subscriptions don't overwrite it until it is released.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The title.
    Title,
    /// The description.
    Description,
    /// Start, end, time zone and all-day flag.
    Dates,
    /// The website.
    Website,
    /// The venues.
    Venue,
    /// The organizers.
    Organizer,
    /// Categories and tags.
    Categories,
    /// The publication status.
    Status,
    /// Whether the event is going ahead as announced.
    EventStatus,
}

impl Part {
    /// All fields.
    pub const ALL: [Part; 9] = [
        Part::Title,
        Part::Description,
        Part::Dates,
        Part::Website,
        Part::Venue,
        Part::Organizer,
        Part::Categories,
        Part::Status,
        Part::EventStatus,
    ];

    /// Returns the name used in requests, responses and the database.
    pub fn name(self) -> &'static str {
        match self {
            Part::Title => "title",
            Part::Description => "description",
            Part::Dates => "dates",
            Part::Website => "website",
            Part::Venue => "venue",
            Part::Organizer => "organizer",
            Part::Categories => "categories",
            Part::Status => "status",
            Part::EventStatus => "event_status",
        }
    }

    /// Returns the field with this name, if any.
    pub fn named(name: &str) -> Option<Part> {
        Part::ALL.into_iter().find(|part| part.name() == name)
    }

    /// Returns the group that a field in an event write belongs to, or `None` if subscriptions
    /// don't write to that field.
    pub fn of_field(field: &str) -> Option<Part> {
        match field {
            "start_date" | "end_date" | "timezone" | "all_day" => Some(Part::Dates),
            "tags" => Some(Part::Categories),
            "event_status_reason" => Some(Part::EventStatus),
            name => Part::named(name),
        }
    }
}

/// A set of fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts(Vec<Part>);

impl Parts {
    /// Creates a set of fields.
    pub fn of(parts: impl IntoIterator<Item = Part>) -> Parts {
        let mut parts: Vec<Part> = parts.into_iter().collect();
        parts.sort_unstable();
        parts.dedup();
        Parts(parts)
    }

    /// Parses the database format.
    pub fn stored(text: &str) -> Parts {
        Parts::of(text.split(',').filter_map(Part::named))
    }

    /// Returns the database format, a comma-separated list of names.
    pub fn text(&self) -> String {
        self.names().join(",")
    }

    /// Returns the names of the fields.
    pub fn names(&self) -> Vec<&'static str> {
        self.0.iter().map(|part| part.name()).collect()
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether the set contains `part`.
    pub fn has(&self, part: Part) -> bool {
        self.0.contains(&part)
    }

    /// Returns the union of both sets.
    pub fn with(&self, other: &Parts) -> Parts {
        Parts::of(self.0.iter().chain(&other.0).copied())
    }

    /// Returns the fields that aren't in the other set.
    pub fn without(&self, other: &Parts) -> Parts {
        Parts::of(self.0.iter().copied().filter(|part| !other.has(*part)))
    }

    /// Returns the fields that differ between two states of an event, ignoring trashing and
    /// restoring, which are recorded elsewhere.
    pub fn changed(
        (old, old_links, old_status): (&Event, &Links, &EventStatus),
        (new, new_links, new_status): (&Event, &Links, &EventStatus),
    ) -> Parts {
        let is_trashed = old.status.is_trashed() || new.status.is_trashed();
        let differences = [
            (Part::Title, old.title != new.title),
            (Part::Description, old.description != new.description),
            (Part::Dates, old.schedule != new.schedule),
            (Part::Website, old.website != new.website),
            (Part::Venue, old_links.venues != new_links.venues),
            (Part::Organizer, old_links.organizers != new_links.organizers),
            (
                Part::Categories,
                (&old_links.categories, &old_links.tags)
                    != (&new_links.categories, &new_links.tags),
            ),
            (Part::Status, !is_trashed && old.status != new.status),
            (Part::EventStatus, old_status != new_status),
        ];
        Parts::of(differences.into_iter().filter(|(_, differs)| *differs).map(|(part, _)| part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_read_from_their_text() {
        let parts = Parts::stored("venue,title,unknown,title");
        assert_eq!(parts.text(), "title,venue");
        assert!(parts.has(Part::Venue) && !parts.has(Part::Dates));
        assert_eq!(Parts::stored("").text(), "");
        let dates = Parts::of([Part::Dates]);
        assert_eq!(parts.with(&dates).text(), "title,dates,venue");
        assert_eq!(parts.without(&Parts::of([Part::Title])).text(), "venue");
        for part in Part::ALL {
            assert_eq!(Part::named(part.name()), Some(part));
            assert_eq!(Part::of_field(part.name()), Some(part));
        }
        assert_eq!(Part::of_field("all_day"), Some(Part::Dates));
        assert_eq!(Part::of_field("image"), None);
    }
}
