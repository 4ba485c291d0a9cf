//! Reads iCalendar components one at a time, in bounded memory.

use std::collections::HashMap;
use std::io::{self, BufRead};
use std::sync::Arc;

use batch::{BoundedLines, Line};

use super::calendar::{IDENTITY, PRODUCT};
use super::component::{Component, Kind, Method};
use super::decoded::{Decoded, text};
use super::foreign_zones::known;
use super::ignored::Ignored;
use super::property::Property;
use super::value_types;
use crate::model::zone::Zone;

/// Maximum line length in bytes. Events with longer lines are rejected, unless these lines are
/// attachments or vendor properties.
const LONGEST_LINE: usize = 256 << 10;

/// Maximum size of an event or time zone in bytes.
const MAX_BYTES: usize = 2 << 20;

/// Properties that define a series. Without them, imports would trash occurrences. Never in alarms.
const SERIES: [&str; 5] = ["EXDATE", "EXRULE", "RDATE", "RECURRENCE-ID", "RRULE"];

/// How a line affects the nesting of components.
enum Mark {
    End,
    /// A line outside the component, whose END must be missing.
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
    /// Whether we are inside a calendar, or the file ended inside an event or time zone.
    pub is_open: bool,
    method: Method,
    /// Number of the last line.
    pub line: u64,
    /// The number of calendars that have started.
    calendar: usize,
    /// The default zones of the calendars read so far, by [`Component::calendar`]. Calendars without
    /// a known zone are missing.
    pub default_zones: HashMap<usize, Zone>,
    /// The PRODID of the current calendar.
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
            calendar: 0,
            default_zones: HashMap::new(),
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
                    if !self.default_zones.contains_key(&self.calendar)
                        && let Some(zone) = known(name)
                    {
                        self.default_zones.insert(self.calendar, zone);
                    }
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
                // A file can consist of bare events.
                "VEVENT" => {
                    self.is_calendar = true;
                    Kind::Event
                }
                "VTIMEZONE" => Kind::Zone,
                "VCALENDAR" => {
                    (self.is_calendar, self.is_open) = (true, true);
                    self.calendar += 1;
                    (self.method, self.calendar_id, self.product) = (Method::Publish, None, None);
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

    /// Reads the rest of a component, up to its END. If the END is missing, stops before the next
    /// component, or at the end of the calendar or file.
    fn component(&mut self, line: u64, kind: Kind) -> io::Result<Component> {
        let (properties, method, calendar_id) = (Vec::new(), self.method, self.calendar_id.clone());
        let mut component = Component {
            line,
            kind,
            properties,
            is_cut: false,
            has_end: false,
            method,
            calendar: self.calendar,
            calendar_id,
            is_own: self.product.as_deref() == Some(PRODUCT),
            exchanged: None,
        };
        let (mut depth, mut bytes, mut extra_bytes) = (0_usize, 0, 0);
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
            // If an alarm seems to contain a series property, the alarm's END is missing.
            let is_hidden = SERIES.contains(&property.name.as_str()) && depth > 0;
            component.is_cut |= kind == Kind::Event && is_hidden;
            // Skip alarms within events, but keep observances, which define the zone's offsets.
            if kind == Kind::Event && (depth > 0 || property.name == "END") {
                continue;
            }
            // Attachments and vendor properties aren't needed, so those that don't fit are left out.
            let is_extra = property.name == "ATTACH" || property.name.starts_with("X-");
            let size = if is_extra { &mut extra_bytes } else { &mut bytes };
            *size += property.name.len() + property.value.len() + 64;
            let fits = *size <= MAX_BYTES && !self.is_line_cut;
            component.is_cut |= !fits && !is_extra;
            if kind == Kind::Event {
                self.ignored.count_property(&property);
            }
            // The UID of an event that isn't imported says that the file still has it.
            let is_name = property.name == "UID" && component.find("UID").is_none();
            if fits && !component.is_cut || is_name && !self.is_line_cut {
                component.properties.push(property);
            } else if is_extra && !fits {
                self.ignored.count_surplus(number, self.is_line_cut);
            }
        }
        // A file of bare events has no other sign of truncation.
        self.is_open |= !component.has_end && self.again.is_none();
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
            // A truncated line might even lack a part of its name.
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
