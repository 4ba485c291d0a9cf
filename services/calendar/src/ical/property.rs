//! iCalendar properties and their escape sequences.

/// A property such as `NAME;PARAMETER=value:value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// Line number in the file, or 0 if the property isn't from a file.
    pub line: u64,
    /// Uppercase name.
    pub name: String,
    /// Parameters, with uppercase names and unquoted values.
    pub parameters: Vec<(String, String)>,
    /// The raw value, with escape sequences.
    pub value: String,
}

impl Property {
    /// Parses a line. Returns `None` if it doesn't have a value.
    pub fn parse(line: &str) -> Option<Property> {
        let (mut quoted, mut bracketed, mut last) = (false, false, ' ');
        let colon = line.char_indices().find_map(|(at, c)| {
            // Outlook writes `TZID=tzone://Microsoft/Utc` without quotes.
            if c == ':' && line[at..].starts_with("://") && line[..at].ends_with("=tzone") {
                return None;
            }
            quoted ^= c == '"';
            // Exchange writes `TZID=(UTC+01:00) Amsterdam, Berlin` without quotes.
            bracketed = (bracketed && c != ')') || (last == '=' && c == '(');
            last = c;
            (c == ':' && !quoted && !bracketed).then_some(at)
        });
        // Treat an unclosed quote or bracket as an ordinary character.
        let (head, value) = match colon {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => line.split_once(':')?,
        };
        let mut quoted = false;
        let mut parts = head.split(|c| {
            quoted ^= c == '"';
            c == ';' && !quoted
        });
        let name = parts.next()?.trim().to_ascii_uppercase();
        let parameters = parts.filter_map(|part| part.split_once('=')).map(|(name, value)| {
            (name.trim().to_ascii_uppercase(), parameter_text(value.trim_matches('"')))
        });
        let parameters = parameters.collect();
        Some(Property { line: 0, name, parameters, value: value.to_owned() })
    }

    pub fn parameter(&self, name: &str) -> Option<&str> {
        let found = self.parameters.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Returns whether `value`, which is one of the property's values, is a day. Some programs
    /// declare times as days, so a time other than midnight takes precedence over the declaration.
    pub fn is_day(&self, value: &str) -> bool {
        self.parameter("VALUE").is_some_and(|kind| kind.eq_ignore_ascii_case("DATE"))
            && !has_time(value)
    }

    pub fn text(&self) -> String {
        unescaped(&self.value)
    }

    /// Returns the unescaped values of a comma-separated list.
    pub fn texts(&self) -> Vec<String> {
        let mut escaped = false;
        let parts = self.value.split(|c| {
            let parts = c == ',' && !escaped;
            escaped = c == '\\' && !escaped;
            parts
        });
        parts.map(unescaped).filter(|text| !text.trim().is_empty()).collect()
    }
}

/// Returns whether `date` has a time of day other than midnight.
pub fn has_time(date: &str) -> bool {
    let time = date.split_once(['T', 't']).map(|(_, time)| time);
    time.is_some_and(|time| time.bytes().any(|byte| matches!(byte, b'1'..=b'9')))
}

/// Unescapes a parameter value (RFC 6868). A caret before another character is kept.
fn parameter_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let escaped = match chars.peek() {
            Some('n') => Some('\n'),
            Some('\'') => Some('"'),
            Some('^') => Some('^'),
            _ => None,
        };
        match escaped.filter(|_| c == '^') {
            Some(escaped) => {
                out.push(escaped);
                chars.next();
            }
            None => out.push(c),
        }
    }
    out
}

/// Unescapes a text value.
pub fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n' | 'N') => out.push('\n'),
                Some(other) => out.push(other),
                None => {}
            },
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_of_other_programs_parse() {
        let property = Property::parse("dtstart;tzid=\"America/New;York:1\";X-A=b:20270401T180000");
        let property = property.unwrap();
        assert_eq!(property.name, "DTSTART");
        assert_eq!(property.parameter("TZID"), Some("America/New;York:1"));
        assert_eq!(property.value, "20270401T180000");
        assert_eq!(Property::parse("no value"), None);
        let broken = Property::parse("ORGANIZER;CN=12\" disc:mailto:a@b.c").unwrap();
        assert_eq!(broken.value, "mailto:a@b.c");
        let escaped = Property::parse("ORGANIZER;CN=A^'b^':x").unwrap();
        assert_eq!(escaped.parameter("CN"), Some("A\"b\""));
        let carets = Property::parse("ORGANIZER;CN=a^^nb^'c^n^d:x").unwrap();
        assert_eq!(carets.parameter("CN"), Some("a^nb\"c\n^d"));
        let zone =
            Property::parse("DTSTART;TZID=(UTC+01:00) Rome, Vienna:20270401T180000").unwrap();
        assert_eq!(zone.parameter("TZID"), Some("(UTC+01:00) Rome, Vienna"));
        assert_eq!(zone.value, "20270401T180000");
        let utc = Property::parse("DTSTART;TZID=tzone://Microsoft/Utc:20270401T180000").unwrap();
        assert_eq!(utc.parameter("TZID"), Some("tzone://Microsoft/Utc"));
        let open = Property::parse("ORGANIZER;CN=(a:mailto:a@b.c").unwrap();
        assert_eq!(open.value, "mailto:a@b.c");
        let list = Property::parse("CATEGORIES:a\\, b,c\\\\,,d\\nE").unwrap();
        assert_eq!(list.texts(), ["a, b", "c\\", "d\nE"]);
    }
}
