//! Reads a paste with its addresses from a line.

use std::fmt;

use batch::Line;
use domain::EmailAddress;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::Value;

use super::skip_reason::{SkipReason, present};
use crate::model::{entry, instant, loaded_address, paste as rules};

/// Maximum length of a paste id in bytes.
const MAX_ID: usize = 1_024;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Row {
    source: String,
    id: Value,
    title: Option<Value>,
    date: Option<Value>,
    email_count: Option<Value>,
    #[serde(default)]
    emails: Emails,
}

/// A paste's addresses, sorted and deduplicated, and the number of invalid ones.
#[derive(Default)]
pub(super) struct Emails {
    pub(super) addresses: Vec<EmailAddress>,
    pub(super) invalid: u64,
}

impl<'de> Deserialize<'de> for Emails {
    /// Parses addresses one at a time. Keeping the original strings around would double the memory
    /// needed for a large paste.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Texts)
    }
}

/// An element of the list of addresses. Anything other than a text is an invalid address.
#[derive(Deserialize)]
#[serde(untagged)]
enum Element {
    Text(String),
    Other(IgnoredAny),
}

struct Texts;

impl<'de> Visitor<'de> for Texts {
    type Value = Emails;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a list of addresses")
    }

    /// Null means that the member is missing, as for all optional members.
    fn visit_unit<E>(self) -> Result<Emails, E> {
        Ok(Emails::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut texts: A) -> Result<Emails, A::Error> {
        let mut emails = Emails::default();
        while let Some(element) = texts.next_element()? {
            let parsed = match element {
                Element::Text(text) => loaded_address::parse(&text).ok(),
                Element::Other(_) => None,
            };
            match parsed {
                Some(address) => emails.addresses.push(address),
                None => emails.invalid += 1,
            }
        }
        emails.addresses.sort_unstable();
        emails.addresses.dedup();
        Ok(emails)
    }
}

/// A line of the file, i.e. a paste with its addresses.
pub struct Entry {
    pub(super) line: i64,
    /// Length of the line in bytes.
    pub(super) size: usize,
    pub(super) paste: rules::Paste,
    pub(super) emails: Emails,
}

impl Entry {
    /// Returns the addresses, sorted and deduplicated.
    pub(super) fn addresses(&self) -> &[EmailAddress] {
        &self.emails.addresses
    }
}

/// Parses a line. Returns `None` if it's blank.
pub fn read(number: u64, line: &Line<'_>) -> Result<Option<Entry>, SkipReason> {
    let bytes = match line {
        Line::TooLong { .. } => return Err(SkipReason::TooLong),
        Line::Bytes(bytes) if bytes.trim_ascii().is_empty() => return Ok(None),
        Line::Bytes(bytes) => bytes,
    };
    let row: Row = serde_json::from_slice(bytes).map_err(|_| SkipReason::Json)?;
    // Sites whose ids are numbers often export them as such.
    let id = match row.id {
        Value::String(id) => id,
        Value::Number(id) if id.is_u64() => id.to_string(),
        _ => return Err(SkipReason::Id),
    };
    let date = match row.date {
        None => None,
        Some(Value::String(text)) if present(&text).is_err() => None,
        Some(Value::String(text)) => Some(instant::parse_exported(&text).ok_or(SkipReason::Date)?),
        Some(Value::Number(number)) => {
            Some(instant::parse_unix(&number.to_string()).ok_or(SkipReason::Date)?)
        }
        Some(_) => return Err(SkipReason::Date),
    };
    // PostgreSQL can't store NUL or index long ids. A line break in an id would add lines to
    // emails.
    let title = match row.title {
        None => None,
        Some(Value::String(title)) if !title.contains('\0') => Some(title),
        Some(_) => return Err(SkipReason::Title),
    };
    if !rules::is_source(&row.source) {
        return Err(SkipReason::Source);
    }
    if !(1..=MAX_ID).contains(&id.len()) || id.contains(entry::is_unprintable) {
        return Err(SkipReason::Id);
    }
    let counted = i64::try_from(row.emails.addresses.len()).map_err(|_| SkipReason::EmailCount)?;
    let email_count = match row.email_count {
        None => counted,
        Some(count) => count.as_i64().filter(|count| *count >= 0).ok_or(SkipReason::EmailCount)?,
    };
    let line = i64::try_from(number).map_err(|_| SkipReason::Json)?;
    let paste = rules::Paste { source: row.source, id, title, date, email_count };
    Ok(Some(Entry { line, size: bytes.len(), paste, emails: row.emails }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(json: &str) -> Entry {
        read(7, &Line::Bytes(json.as_bytes())).unwrap().unwrap()
    }

    #[test]
    fn numeric_id_becomes_text() {
        for (id, expected) in
            [("8", "8"), ("18446744073709551615", "18446744073709551615"), (r#""08""#, "08")]
        {
            let entry = parsed(&format!(r#"{{"Source":"Pastebin","Id":{id}}}"#));
            assert_eq!(entry.paste.id, expected);
        }
    }

    #[test]
    fn dates_of_other_programs_are_accepted() {
        let time = Some(1_420_070_400);
        for (date, expected) in [
            ("null", None),
            (r#""""#, None),
            (r#"" ""#, None),
            (r#""NULL""#, None),
            ("1420070400", time),
            ("1420070400.5", time),
            ("1420070400000", time),
            (r#""1420070400""#, time),
            (r#""2015-01-01""#, time),
            (r#""2015-01-01T02:00:00+02:00""#, time),
            (r#""2014-12-31 22:00:00 -0200""#, time),
        ] {
            let entry = parsed(&format!(r#"{{"Source":"Pastebin","Id":"a","Date":{date}}}"#));
            assert_eq!(entry.paste.date, expected, "{date}");
        }
    }

    #[test]
    fn addresses_are_deduplicated_and_invalid_texts_counted() {
        let start = r#"{"Source":"Pastebin","Id":"a","Emails":["b@c.example","x","A@c.example",""#;
        let entry = parsed(&format!(r#"{start}","a@C.example"]}}"#));
        let kept: Vec<_> = entry.emails.addresses.iter().map(EmailAddress::as_str).collect();
        assert_eq!(kept, ["a@c.example", "b@c.example"]);
        assert_eq!((entry.emails.invalid, entry.paste.email_count, entry.line), (2, 2, 7));
        let stated = parsed(r#"{"Source":"Pastebin","Id":"a","EmailCount":5}"#);
        assert_eq!((stated.emails.invalid, stated.paste.email_count), (0, 5));
        let optional = r#""Title":null,"Date":null,"EmailCount":null,"Emails":null"#;
        let bare = parsed(&format!(r#"{{"Source":"Pastebin","Id":"a",{optional}}}"#));
        assert_eq!((bare.addresses().len(), bare.paste.email_count), (0, 0));
        let mixed = r#"{"Source":"Pastebin","Id":"a","Emails":[null,"b@c.example",5,{"a":[1]}]}"#;
        let mixed = parsed(mixed);
        assert_eq!((mixed.addresses().len(), mixed.emails.invalid), (1, 3));
        let wrong = br#"{"Source":"Pastebin","Id":"a","Emails":"b@c.example"}"#;
        assert_eq!(read(1, &Line::Bytes(wrong)).err(), Some(SkipReason::Json));
        for (member, reason) in [
            (r#""EmailCount":-1"#, SkipReason::EmailCount),
            (r#""EmailCount":"5""#, SkipReason::EmailCount),
            (r#""Date":"yesterday""#, SkipReason::Date),
            (r#""Date":20150101"#, SkipReason::Date),
            (r#""Date":-1420070400"#, SkipReason::Date),
            (r#""Date":{"$date":1420070400}"#, SkipReason::Date),
            (r#""Title":"a\u0000b""#, SkipReason::Title),
            (r#""Id":"""#, SkipReason::Id),
            (r#""Id":null"#, SkipReason::Id),
            (r#""Id":1.5"#, SkipReason::Id),
            (r#""Id":["a"]"#, SkipReason::Id),
            (r#""Source":"a b""#, SkipReason::Source),
        ] {
            let start = match reason {
                SkipReason::Id => r#""Source":"Pastebin""#,
                SkipReason::Source => r#""Id":"a""#,
                _ => r#""Source":"Pastebin","Id":"a""#,
            };
            let line = format!("{{{start},{member}}}");
            assert_eq!(read(1, &Line::Bytes(line.as_bytes())).err(), Some(reason), "{line}");
        }
    }
}
