//! Reads iCalendar components one at a time, in bounded memory.

use std::io::{self, BufRead};
use std::sync::Arc;

use batch::{BoundedLines, Line};
use sha2::{Digest, Sha256};

use super::calendar::{IDENTITY, PRODUCT};
use super::decoded::Decoded;
use super::ignored::Ignored;
use super::property::Property;
use super::value_types;

/// Maximum line length in bytes. Events with longer lines are rejected, except in attachments and
/// vendor properties.
const LONGEST_LINE: usize = 256 << 10;

/// Maximum size of an event or time zone in bytes.
const MAX_BYTES: usize = 2 << 20;

/// Properties that define a series; without them, imports would trash occurrences. Never in alarms.
const SERIES: [&str; 5] = ["EXDATE", "EXRULE", "RDATE", "RECURRENCE-ID", "RRULE"];

/// Properties that can differ between exports of an unchanged event.
const STAMPS: [&str; 7] =
    ["CREATED", "DTSTAMP", "LAST-MODIFIED", "RECURRENCE-ID", "SEQUENCE", "STATUS", "UID"];

/// An event or time zone as read from the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    /// The line where it starts.
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
    /// The id of the enclosing calendar, if we exported it.
    pub calendar_id: Option<Arc<str>>,
    /// Whether this software wrote the file, here or on another server.
    pub is_own: bool,
    /// The line of an end that preceded the start and was swapped with it.
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
    fn named(name: &str) -> Method {
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

    /// Generates a UID from the content of an event without one. Drops RECURRENCE-ID, because we
    /// can't determine which series it refers to.
    fn name_by_content(&mut self) {
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

/// How a line affects the nesting of components.
enum Mark {
    End,
    /// A line that no longer belongs to the component, whose END is missing.
    Beyond,
    /// The start of a nested component.
    InnerBegin,
    /// The end of a nested component.
    InnerEnd,
}

impl Mark {
    fn of(property: &Property, kind: Kind) -> Option<Mark> {
        const COMPONENTS: [&str; 3] = ["VEVENT", "VTIMEZONE", "VCALENDAR"];
        let name = property.value.trim();
        let is_named = |other: &str| name.eq_ignore_ascii_case(other);
        let own = match kind {
            Kind::Event => "VEVENT",
            Kind::Zone => "VTIMEZONE",
        };
        match property.name.as_str() {
            "END" if is_named(own) => Some(Mark::End),
            "END" if is_named("VCALENDAR") => Some(Mark::Beyond),
            "END" => Some(Mark::InnerEnd),
            "BEGIN" if COMPONENTS.into_iter().any(is_named) => Some(Mark::Beyond),
            "BEGIN" => Some(Mark::InnerBegin),
            _ => None,
        }
    }
}

/// A logical line, assembled from a line and its continuation lines.
struct Unfolding {
    number: u64,
    bytes: Vec<u8>,
    /// Whether part of the line was dropped because it is too long.
    is_cut: bool,
}

/// Reads components from a file.
pub struct Reader<R> {
    lines: BoundedLines<Decoded<R>>,
    /// The logical line being assembled.
    pending: Option<Unfolding>,
    /// Whether part of the last line was dropped because it is too long.
    is_line_cut: bool,
    /// A property that was put back, to be read again.
    again: Option<(u64, Property)>,
    done: bool,
    /// Whether a calendar or event has started.
    pub is_calendar: bool,
    /// Whether we are inside a calendar.
    pub is_open: bool,
    method: Method,
    /// Number of the last line.
    pub line: u64,
    /// The calendar's default zone.
    pub zone_name: Option<String>,
    /// The calendar's PRODID.
    product: Option<String>,
    /// The id of the current calendar, if we exported it.
    calendar_id: Option<Arc<str>>,
    /// Content skipped so far.
    pub ignored: Ignored,
}

impl<R: BufRead> Reader<R> {
    pub fn new(input: R) -> Reader<R> {
        let lines = BoundedLines::new(Decoded::new(input), LONGEST_LINE);
        Reader {
            lines,
            pending: None,
            is_line_cut: false,
            again: None,
            done: false,
            is_calendar: false,
            is_open: false,
            method: Method::Publish,
            line: 0,
            zone_name: None,
            product: None,
            calendar_id: None,
            ignored: Ignored::default(),
        }
    }

    /// Returns the next event or time zone, skipping everything else. Returns `None` at the end.
    ///
    /// # Errors
    /// Returns an error if the input cannot be read.
    pub fn next_component(&mut self) -> io::Result<Option<Component>> {
        while let Some((line, property)) = self.property()? {
            let kind = match (property.name.as_str(), property.value.trim()) {
                ("X-WR-TIMEZONE", name) => {
                    self.zone_name.get_or_insert_with(|| name.to_owned());
                    continue;
                }
                ("METHOD", name) => {
                    self.method = Method::named(name);
                    continue;
                }
                ("PRODID", name) => {
                    self.product.get_or_insert_with(|| name.to_owned());
                    continue;
                }
                (IDENTITY, id) => {
                    self.calendar_id.get_or_insert_with(|| id.into());
                    continue;
                }
                ("BEGIN", name) => name.to_ascii_uppercase(),
                ("END", name) => {
                    self.is_open &= !name.eq_ignore_ascii_case("VCALENDAR");
                    continue;
                }
                _ => continue,
            };
            let kind = match kind.as_str() {
                // A file may consist of bare events.
                "VEVENT" => {
                    self.is_calendar = true;
                    Kind::Event
                }
                "VTIMEZONE" => Kind::Zone,
                "VCALENDAR" => {
                    (self.is_calendar, self.is_open) = (true, true);
                    (self.method, self.calendar_id) = (Method::Publish, None);
                    continue;
                }
                name => {
                    self.ignored.count_component(name, line);
                    continue;
                }
            };
            return self.component(line, kind).map(Some);
        }
        Ok(None)
    }

    /// Reads the rest of a component, up to its END. If that is missing, stops before the next
    /// component or at the end of the calendar or file.
    fn component(&mut self, line: u64, kind: Kind) -> io::Result<Component> {
        let (properties, method, calendar_id) = (Vec::new(), self.method, self.calendar_id.clone());
        let mut component = Component {
            line,
            kind,
            properties,
            is_cut: false,
            has_end: false,
            method,
            calendar_id,
            is_own: self.product.as_deref() == Some(PRODUCT),
            exchanged: None,
        };
        let (mut depth, mut bytes) = (0_usize, 0);
        while let Some((number, property)) = self.property()? {
            match Mark::of(&property, kind) {
                Some(Mark::End) => {
                    component.has_end = true;
                    break;
                }
                Some(Mark::Beyond) => {
                    self.again = Some((number, property));
                    break;
                }
                Some(Mark::InnerBegin) => {
                    self.ignored.count_component(property.value.trim(), number);
                    depth += 1;
                }
                Some(Mark::InnerEnd) => depth = depth.saturating_sub(1),
                None => {}
            }
            // Skip alarms within events, but keep observances, which define the zone's offsets.
            let kept = kind == Kind::Zone || (depth == 0 && property.name != "END");
            bytes += property.name.len() + property.value.len() + 64;
            // Attachments and vendor properties aren't needed, so they may be truncated.
            let is_extra = property.name == "ATTACH" || property.name.starts_with("X-");
            let is_missed = self.is_line_cut && !is_extra;
            component.is_cut |= kept && (bytes > MAX_BYTES || is_missed);
            // If an alarm seems to contain a series property, the alarm's END is missing.
            let is_hidden = SERIES.contains(&property.name.as_str()) && depth > 0;
            component.is_cut |= kind == Kind::Event && is_hidden;
            if kept && kind == Kind::Event {
                self.ignored.count_property(&property);
            }
            if kept && !component.is_cut && !self.is_line_cut {
                component.properties.push(property);
            } else if kept && self.is_line_cut && !is_missed {
                self.ignored.count_long_line(number);
            }
        }
        if kind == Kind::Event && component.is_whole() && component.text("UID").is_empty() {
            component.name_by_content();
        }
        if kind == Kind::Event {
            component.exchanged = value_types::correct(&mut component.properties);
        }
        Ok(component)
    }

    fn property(&mut self) -> io::Result<Option<(u64, Property)>> {
        if let Some(again) = self.again.take() {
            return Ok(Some(again));
        }
        while let Some(line) = self.unfolded()? {
            let text = text(line.bytes);
            let name = text.split(';').next().unwrap_or_default().trim().to_ascii_uppercase();
            let property =
                Property::parse(&text).map(|property| Property { line: line.number, ..property });
            let is_valueless = property.is_none() && SERIES.contains(&name.as_str());
            (self.line, self.is_line_cut) = (line.number, line.is_cut || is_valueless);
            // A truncated line may even lack a part of its name.
            let (name, parameters, value) = Default::default();
            let cut = Property { line: line.number, name, parameters, value };
            if let Some(property) = property.or(self.is_line_cut.then_some(cut)) {
                return Ok(Some((line.number, property)));
            }
        }
        Ok(None)
    }

    /// Joins a line with its continuation lines, which start with whitespace. Returns `None` at the
    /// end.
    fn unfolded(&mut self) -> io::Result<Option<Unfolding>> {
        while !self.done {
            let Some((number, line)) = self.lines.next_line()? else {
                self.done = true;
                break;
            };
            let (bytes, is_cut) = match line {
                Line::Bytes(bytes) => (bytes, false),
                Line::TooLong { start } => (start, true),
            };
            match (&mut self.pending, bytes) {
                // Some programs write an empty line before a continuation line.
                (Some(_), [] | [b'\r']) => {}
                (Some(pending), [b' ' | b'\t', rest @ ..]) => {
                    pending.is_cut |= is_cut || pending.bytes.len() + rest.len() > MAX_BYTES;
                    if !pending.is_cut {
                        pending.bytes.extend_from_slice(rest);
                    }
                }
                (pending, bytes) => {
                    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).to_vec();
                    if let Some(whole) = pending.replace(Unfolding { number, bytes, is_cut }) {
                        return Ok(Some(whole));
                    }
                }
            }
        }
        Ok(self.pending.take())
    }
}

fn text(bytes: Vec<u8>) -> String {
    // Fall back to Latin-1 if a line isn't valid UTF-8.
    let text = String::from_utf8(bytes)
        .unwrap_or_else(|error| error.into_bytes().into_iter().map(char::from).collect());
    text.trim_end_matches('\r').replace('\0', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reader_unfolds_within_characters_and_skips_alarms() {
        let mut file =
            b"\xef\xbb\xbfBEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:Gr\xc3\r\n \xb6\xc3\x9fe\r\n"
                .to_vec();
        file.extend_from_slice(
            b"BEGIN:VALARM\nSUMMARY:x\nEND:VALARM\nUID:1\n\t2\nEND:VEVENT\nBEGIN:VEVENT\nUID:3",
        );
        let mut reader = Reader::new(&file[..]);
        let first = reader.next_component().unwrap().unwrap();
        assert!(reader.is_calendar);
        let texts: Vec<String> =
            first.properties.iter().map(|one| format!("{}={}", one.name, one.value)).collect();
        assert_eq!((first.line, texts.join(" ")), (2, "SUMMARY=Größe UID=12".to_owned()));
        // The second event runs until the end of the file.
        let second = reader.next_component().unwrap().unwrap();
        assert_eq!((second.properties[0].value.as_str(), second.has_end), ("3", false));
        assert!(first.has_end);
        assert_eq!(reader.next_component().unwrap(), None);
    }

    #[test]
    fn component_without_end_does_not_hide_the_next() {
        let file = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:1\nBEGIN:VALARM\nBEGIN:VEVENT\nUID:2\n\
            BEGIN:VALARM\nEND:VEVENT\nBEGIN:VTIMEZONE\nTZID:a\nBEGIN:VEVENT\nUID:3\nEND:VCALENDAR\n";
        let mut reader = Reader::new(file.as_bytes());
        let mut found = Vec::new();
        while let Some(component) = reader.next_component().unwrap() {
            found.push((component.properties[0].value.clone(), component.has_end));
        }
        let expected = [("1", false), ("2", true), ("a", false), ("3", false)];
        assert_eq!(found, expected.map(|(name, has_end)| (name.to_owned(), has_end)));
        assert!(!reader.is_open);
        let mut reader = Reader::new(&b"BEGIN:VCALENDAR\nEND:VCALEND"[..]);
        assert_eq!(reader.next_component().unwrap(), None);
        assert!(reader.is_open);
    }

    #[test]
    fn component_that_misses_a_property_is_cut() {
        let long = "x".repeat(LONGEST_LINE + 1);
        let folded = " 20270401T100000Z,\n".repeat(MAX_BYTES / 17);
        for (line, expected) in [
            (format!("RDATE:{long}"), true),
            (format!("RDATE:\n{folded}"), true),
            (format!("DESCRIPTION:a\n {long}"), true),
            (long.clone(), true),
            ("recurrence-id;TZID=Europe/Vienna".to_owned(), true),
            ("BEGIN:VALARM\nACTION:AUDIO\nRRULE:FREQ=DAILY".to_owned(), true),
            ("BEGIN:VALARM\nACTION:AUDIO\nSUMMARY:x".to_owned(), false),
            ("DESCRIPTION:a\nrule by rule".to_owned(), false),
            (format!("ATTACH;ENCODING=BASE64:{long}"), false),
            (format!("BEGIN:VALARM\nDESCRIPTION:{long}\nEND:VALARM"), false),
        ] {
            let file = format!("BEGIN:VEVENT\nUID:1\n{line}\nEND:VEVENT\n{long}\n");
            let file = format!("{file}BEGIN:VEVENT\nUID:2\nEND:VEVENT\n");
            let mut reader = Reader::new(file.as_bytes());
            let mut next = || reader.next_component().unwrap().unwrap();
            let (first, second) = (next(), next());
            assert_eq!((first.is_cut, second.is_cut), (expected, false), "{}", &line[..20]);
            assert!(first.has_end && first.find("ATTACH").is_none());
        }
    }

    #[test]
    fn component_without_end_is_limited_in_size() {
        let mut file = b"BEGIN:VEVENT\n".to_vec();
        file.extend(
            b"X:".iter().chain(&[b'a'; 200_000]).chain(b"\n").copied().cycle().take(5 << 20),
        );
        let component = Reader::new(&file[..]).next_component().unwrap().unwrap();
        assert!(component.is_cut);
        let bytes: usize = component.properties.iter().map(|one| one.value.len()).sum();
        assert!(bytes <= MAX_BYTES);
    }
}
