//! Parts of files that an import does not use.

use std::collections::BTreeMap;

use super::property::Property;

/// A message about a part of an entry that was replaced or ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The line of the property; `None` if it concerns the whole entry.
    pub line: Option<u64>,
    /// The message.
    pub message: String,
}

impl Warning {
    /// A message about a property.
    pub fn about(property: &Property, message: impl Into<String>) -> Warning {
        Warning { line: Some(property.line), message: message.into() }
    }
}

impl From<String> for Warning {
    fn from(message: String) -> Warning {
        Warning { line: None, message }
    }
}

/// Components that are not events.
const COMPONENTS: [&str; 5] = ["VALARM", "VAVAILABILITY", "VFREEBUSY", "VJOURNAL", "VTODO"];

/// Properties of events without a place in this calendar.
const PROPERTIES: [&str; 7] = [
    "ATTENDEE",
    "COMMENT",
    "CONFERENCE",
    "CONTACT",
    "RELATED-TO",
    "RESOURCES",
    "STYLED-DESCRIPTION",
];

/// Properties that an event has once. Others have a meaning for each value.
const SINGLE: [&str; 12] = [
    "CLASS",
    "DESCRIPTION",
    "DTEND",
    "DTSTART",
    "DURATION",
    "GEO",
    "LOCATION",
    "ORGANIZER",
    "RECURRENCE-ID",
    "STATUS",
    "SUMMARY",
    "URL",
];

/// Parts of a file that are ignored wherever they occur: the first line of each kind, and their
/// number.
#[derive(Clone, Debug, Default)]
pub struct Ignored(BTreeMap<String, (u64, u64)>);

impl Ignored {
    /// Counts a component that is not an event.
    pub fn count_component(&mut self, name: &str, line: u64) {
        let known = COMPONENTS.iter().find(|known| name.eq_ignore_ascii_case(known));
        if let Some(name) = known {
            self.count((*name).to_owned(), line);
        }
    }

    /// Counts a property of an event without a place in this calendar.
    pub fn count_property(&mut self, property: &Property) {
        if PROPERTIES.contains(&property.name.as_str()) {
            self.count(property.name.clone(), property.line);
        }
    }

    /// Counts an attachment or a property of another program that is too long.
    pub fn count_long_line(&mut self, line: u64) {
        self.count("a line of more than 256 KiB".to_owned(), line);
    }

    fn count(&mut self, what: String, line: u64) {
        self.0.entry(what).or_insert((line, 0)).1 += 1;
    }

    /// Returns the first line of each kind, and a message.
    pub fn messages(&self) -> impl Iterator<Item = (u64, String)> {
        self.0.iter().map(|(what, (line, count))| {
            let more = match count - 1 {
                0 => String::new(),
                more => format!(", here and {more} more times"),
            };
            (*line, format!("{what} is ignored{more}"))
        })
    }
}

/// Returns warnings for values that an event has although it can have only one.
pub fn repeated(properties: &[Property]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let named = |name: &'static str| properties.iter().filter(move |one| one.name == name);
    for name in SINGLE {
        for property in named(name).skip(1) {
            let message = format!("{name} occurs again; only its first value is used");
            warnings.push(Warning::about(property, message));
        }
    }
    if named("DTEND").next().is_some()
        && let Some(duration) = named("DURATION").next()
    {
        warnings.push(Warning::about(duration, "DURATION is ignored, because there is a DTEND"));
    }
    warnings
}
