//! Keeps track of the content that an import ignores.

use std::collections::BTreeMap;

use super::property::Property;

/// A message about part of an entry that was replaced or ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The property's line, or `None` if the warning concerns the whole entry.
    pub line: Option<u64>,
    pub message: String,
}

impl Warning {
    pub fn about(property: &Property, message: impl Into<String>) -> Warning {
        Warning { line: Some(property.line), message: message.into() }
    }
}

impl From<String> for Warning {
    fn from(message: String) -> Warning {
        Warning { line: None, message }
    }
}

/// Component types that we skip because they aren't events.
const COMPONENTS: [&str; 5] = ["VALARM", "VAVAILABILITY", "VFREEBUSY", "VJOURNAL", "VTODO"];

/// Event properties that we can't represent.
const PROPERTIES: [&str; 7] = [
    "ATTENDEE",
    "COMMENT",
    "CONFERENCE",
    "CONTACT",
    "RELATED-TO",
    "RESOURCES",
    "STYLED-DESCRIPTION",
];

/// Properties that are only allowed once per event. All others can be repeated.
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

/// Counts ignored content by kind, along with the line where each kind first appears.
#[derive(Clone, Debug, Default)]
pub struct Ignored(BTreeMap<String, (u64, u64)>);

impl Ignored {
    /// Counts a component that isn't an event.
    pub fn count_component(&mut self, name: &str, line: u64) {
        let known = COMPONENTS.iter().find(|known| name.eq_ignore_ascii_case(known));
        if let Some(name) = known {
            self.count((*name).to_owned(), line);
        }
    }

    /// Counts an event property that we can't represent.
    pub fn count_property(&mut self, property: &Property) {
        if PROPERTIES.contains(&property.name.as_str()) {
            self.count(property.name.clone(), property.line);
        }
    }

    /// Counts an attachment or vendor property that is left out because its line is too long, or
    /// because all of them together are too large.
    pub fn count_surplus(&mut self, line: u64, is_long: bool) {
        let what = match is_long {
            true => "a line of more than 256 KiB",
            false => "an attachment or vendor property beyond 2 MiB in an event",
        };
        self.count(what.to_owned(), line);
    }

    fn count(&mut self, what: String, line: u64) {
        self.0.entry(what).or_insert((line, 0)).1 += 1;
    }

    /// Returns one message per kind of ignored content, with the line where it first appears.
    pub fn messages(&self) -> impl Iterator<Item = (u64, String)> {
        self.0.iter().map(|(what, (line, count))| {
            let more = match count - 1 {
                0 => String::new(),
                more => format!(", here and {more} other times"),
            };
            (*line, format!("{what} is ignored{more}"))
        })
    }
}

/// Warns about repeated properties that are only allowed once.
pub fn repeated(properties: &[Property]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let named = |name: &'static str| properties.iter().filter(move |one| one.name == name);
    for name in SINGLE {
        for property in named(name).skip(1) {
            let message = format!("{name} is repeated; only its first value is used");
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
