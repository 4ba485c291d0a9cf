//! The components of an iCalendar file: events and time zones with their properties.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::property::Property;

/// Properties that can differ between exports of an unchanged event.
const STAMPS: [&str; 7] =
    ["CREATED", "DTSTAMP", "LAST-MODIFIED", "RECURRENCE-ID", "SEQUENCE", "STATUS", "UID"];

/// An event or time zone as read from the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    /// The line where the component starts.
    pub line: u64,
    pub kind: Kind,
    /// The properties. In a time zone, each observance starts with a `BEGIN`.
    pub properties: Vec<Property>,
    /// Whether properties are missing because the component is too large or malformed.
    pub is_cut: bool,
    /// Whether the end of the component was found.
    pub has_end: bool,
    /// The METHOD of the enclosing calendar.
    pub method: Method,
    /// The number of the enclosing calendar, from 1. It is 0 before the first calendar.
    pub calendar: usize,
    /// The id of the enclosing calendar, if we exported it.
    pub calendar_id: Option<Arc<str>>,
    /// Whether this software wrote the file, here or on another server.
    pub is_own: bool,
    /// The line of the end property, if it preceded the start and was swapped with it.
    pub exchanged: Option<u64>,
}

/// A calendar's METHOD, which says how to process its events (RFC 5546).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Import the events. Applies to `PUBLISH`, `REQUEST`, and calendars without a method.
    #[default]
    Publish,
    /// `CANCEL`: the events are cancelled.
    Cancel,
    /// A message between the organizer and attendees, which doesn't change events.
    Other(&'static str),
}

impl Method {
    pub(super) fn named(name: &str) -> Method {
        const OTHERS: [&str; 5] = ["ADD", "COUNTER", "DECLINECOUNTER", "REFRESH", "REPLY"];
        match OTHERS.into_iter().find(|other| name.eq_ignore_ascii_case(other)) {
            Some(other) => Method::Other(other),
            None if name.eq_ignore_ascii_case("CANCEL") => Method::Cancel,
            None => Method::Publish,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A `VEVENT`.
    Event,
    /// A `VTIMEZONE`.
    Zone,
}

impl Component {
    /// Returns whether the whole component was read.
    pub fn is_whole(&self) -> bool {
        self.has_end && !self.is_cut
    }

    /// Returns whether the calendar's method can change events.
    pub fn has_known_method(&self) -> bool {
        !matches!(self.method, Method::Other(_))
    }

    /// Returns whether the component cancels its event.
    pub fn is_cancelled(&self) -> bool {
        self.method == Method::Cancel || self.text("STATUS").eq_ignore_ascii_case("CANCELLED")
    }

    /// Returns whether a cancellation has the details to create its event. It can omit them.
    pub fn has_details(&self) -> bool {
        self.method != Method::Cancel && self.find("SUMMARY").is_some()
    }

    /// Generates a UID from the content of an event without one. Drops RECURRENCE-ID, because we
    /// can't determine which series it refers to.
    pub(super) fn name_by_content(&mut self) {
        let mut hasher = Sha256::new();
        for one in self.properties.iter().filter(|one| !STAMPS.contains(&one.name.as_str())) {
            let parameters = one.parameters.iter().flat_map(|(name, value)| [name, value]);
            for text in [&one.name, &one.value].into_iter().chain(parameters) {
                hasher.update(text.as_bytes());
                hasher.update(b"\0");
            }
            hasher.update(b"\n");
        }
        let digest: String =
            hasher.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        self.properties.retain(|one| !matches!(one.name.as_str(), "RECURRENCE-ID" | "UID"));
        let (line, name, value) = (self.line, "UID".to_owned(), format!("content-{digest}"));
        self.properties.push(Property { line, name, parameters: Vec::new(), value });
    }

    /// Appends the start to the UID, to distinguish series that share a UID.
    pub fn tell_apart(&mut self) {
        let name = self.name_with_start(&self.text("UID"));
        if let Some(uid) = self.properties.iter_mut().find(|one| one.name == "UID") {
            uid.value = name;
        }
    }

    /// Returns `uid` with the start appended.
    pub fn name_with_start(&self, uid: &str) -> String {
        format!("{uid}~{}", self.text("DTSTART"))
    }

    /// Returns whether the event has a recurrence rule or a date list.
    pub fn is_series(&self) -> bool {
        self.rules().next().is_some() || self.find("RDATE").is_some()
    }

    /// Returns the total size of the properties in bytes.
    pub fn bytes(&self) -> usize {
        let parameters = |one: &Property| {
            one.parameters.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>()
        };
        let bytes = |one: &Property| one.name.len() + one.value.len() + parameters(one);
        self.properties.iter().map(bytes).sum()
    }

    /// Returns the first property called `name`, if any.
    pub fn find(&self, name: &str) -> Option<&Property> {
        self.properties.iter().find(|one| one.name == name)
    }

    /// Returns all properties called `name`.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &Property> {
        self.properties.iter().filter(move |one| one.name == name)
    }

    /// Returns the recurrence rules. Skips empty ones, which some programs write for non-recurring
    /// events.
    pub fn rules(&self) -> impl Iterator<Item = &Property> {
        self.all("RRULE").filter(|one| !one.value.trim().is_empty())
    }

    /// Returns the trimmed text of a property, or an empty string if it is missing.
    pub fn text(&self, name: &str) -> String {
        self.find(name).map(|one| one.text().trim().to_owned()).unwrap_or_default()
    }
}
