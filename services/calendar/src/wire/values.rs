//! Types for parameter values, with their decoders and error messages.

use std::collections::HashSet;

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use shell::params::reject;

use crate::model::event_status::Occurring;
use crate::model::geo::{LONGEST_RADIUS, Unit};
use crate::model::image::{encoded_for_attribute, web_url};
use crate::model::list::{EventOrder, TermOrder};
use crate::model::series::Reach;
use crate::model::slug;
use crate::model::status::Status;
use crate::model::when::When;

/// Maximum length of titles and other short text in characters.
const MAX_CHARACTERS: usize = 1000;

/// Maximum number of items in a list.
pub const MAX_ITEMS: usize = 1000;

/// The largest integer that all JSON parsers can represent exactly.
pub const LARGEST_INTEGER: i64 = (1 << 53) - 1;

/// The error message for a list with too many items.
pub const TOO_MANY: &str = "must have at most 1000 members";

/// The error code for invalid booleans. These are also listed in `details`.
pub const INVALID_TYPE: &str = "rest_invalid_type";

/// Defines types with functions that decode them from JSON values.
macro_rules! values {
    ($($(#[$doc:meta])* $name:ident($type:ty) = $read:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Deserialize)]
        #[serde(try_from = "Value")]
        pub struct $name(pub $type);

        impl TryFrom<Value> for $name {
            type Error = &'static str;

            fn try_from(value: Value) -> Result<$name, &'static str> {
                let read: fn(&Value) -> Result<$type, &'static str> = $read;
                read(&value).map($name)
            }
        }
    )*};
}

values! {
    /// A positive integer.
    Positive(i64) = |value| positive(value).ok_or("must be a positive integer");
    /// A string of any length.
    Text(String) = text;
    /// A date in a write. Integers are timestamps.
    DateInput(When) = date_input;
    /// A string to derive a slug from.
    SlugText(String) = slug_text;
    /// A status.
    StatusText(Status) = status;
    /// Whether an event is going ahead as announced.
    EventStatusText(Occurring) = event_status;
    /// An absolute web URL, or an empty string.
    Website(String) = website;
    /// Distinct list items. The strings of an array can contain commas.
    Items(Vec<Value>) = items;
    /// The events in a series that a write applies to.
    ScopeWord(Reach) = |value| {
        Reach::named(&text(value)?).ok_or("must be this, following or all")
    };
    /// How to group events in lists that show one event per group.
    Collapse(()) = |value| match text(value)?.as_str() {
        "series" => Ok(()),
        _ => Err("must be series"),
    };
    /// A string of up to 1000 characters.
    ShortText(String) = short_text;
    /// A short string that isn't blank.
    FilledText(String) = filled_text;
    /// A date that hasn't been resolved in a zone yet.
    Date(When) = |value| When::parse(&text(value)?).map_err(|_| "must be a date");
    /// Distinct positive integers.
    Ids(Vec<i64>) = ids;
    /// Strings. Numbers are converted.
    Texts(Vec<String>) = texts;
    /// A parent term's id, or 0 for the top level.
    Parent(i64) = parent;
    /// An id, or 0 for none.
    IdOrZero(i64) = id_or_zero;
    /// A flag that certain words turn on. Anything else is false.
    LenientFlag(bool) = |value| Ok(lenient_flag(value));
    /// Like [`LenientFlag`], but accepts fewer words.
    StrictDates(bool) = |value| Ok(strict_dates(value));
    /// Latitude in degrees.
    Latitude(f64) = |value| number(value, -90.0, 90.0);
    /// Longitude in degrees.
    Longitude(f64) = |value| number(value, -180.0, 180.0);
    /// A radius.
    Radius(f64) = |value| number(value, f64::from_bits(1), LONGEST_RADIUS);
    /// A unit of length.
    LengthUnit(Unit) = |value| Unit::named(&text(value)?).ok_or("must be miles or km");
    /// Sort direction. True if descending.
    Descending(bool) = descending;
    /// Event sort key.
    EventSort(EventOrder) = event_sort;
    /// Term sort key.
    TermSort(TermOrder) = term_sort;
}

/// A boolean that has its own error code.
#[derive(Clone, Copy, Debug)]
pub struct Flag(pub bool);

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Flag, D::Error> {
        let value = Value::deserialize(deserializer)?;
        boolean(&value).map(Flag).ok_or_else(|| reject(INVALID_TYPE, "must be a boolean"))
    }
}

/// Decodes a string. Drops control characters other than tabs and line breaks.
pub fn text(value: &Value) -> Result<String, &'static str> {
    let text = value.as_str().ok_or("must be a string")?;
    let is_text = |c: &char| !c.is_control() || matches!(c, '\t' | '\n' | '\r');
    Ok(text.chars().filter(is_text).collect())
}

/// Decodes a single-line string of up to 1000 characters.
pub fn short_text(value: &Value) -> Result<String, &'static str> {
    let text = text(value)?.replace("\r\n", " ").replace(['\t', '\n', '\r'], " ");
    if text.chars().count() > MAX_CHARACTERS {
        return Err("must be at most 1000 characters long");
    }
    Ok(text)
}

/// Decodes a short string that isn't blank.
pub fn filled_text(value: &Value) -> Result<String, &'static str> {
    let text = short_text(value)?;
    if text.trim().is_empty() { Err("must not be empty") } else { Ok(text) }
}

/// Decodes a boolean.
pub fn boolean(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::Number(number) if number.as_i64() == Some(1) => Some(true),
        Value::Number(number) if number.as_i64() == Some(0) => Some(false),
        Value::String(text) => match text.to_ascii_lowercase().as_str() {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// Returns true for words such as `yes`, and false for anything else.
pub fn lenient_flag(value: &Value) -> bool {
    const YES: [&str; 7] = ["1", "enable", "enabled", "on", "y", "yes", "true"];
    match value {
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_i64() == Some(1),
        Value::String(text) => YES.contains(&text.to_ascii_lowercase().as_str()),
        _ => false,
    }
}

fn strict_dates(value: &Value) -> bool {
    match value {
        Value::Bool(flag) => *flag,
        Value::String(text) => {
            matches!(text.to_ascii_lowercase().as_str(), "1" | "true" | "on" | "yes")
        }
        _ => false,
    }
}

/// Decodes an integer from 1 to 2^53 - 1. It can be written as `1.0` or sent as a string.
pub fn positive(value: &Value) -> Option<i64> {
    let whole = |number: f64| {
        let fits = number.fract() == 0.0 && number > 0.0 && number < 9_007_199_254_740_992.0;
        #[expect(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
        fits.then_some(number as i64)
    };
    let number = match value {
        Value::Number(number) => number.as_i64().or_else(|| whole(number.as_f64()?)),
        Value::String(text) => {
            let text = text.trim();
            let plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
            text.parse().ok().or_else(|| whole(text.parse().ok()?)).filter(|_| plain)
        }
        _ => None,
    };
    number.filter(|number| (1..=LARGEST_INTEGER).contains(number))
}

/// Decodes a number between `low` and `high`.
pub fn number(value: &Value, low: f64, high: f64) -> Result<f64, &'static str> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    let number = number.filter(|number: &f64| (low..=high).contains(number));
    number.ok_or("must be a number in range")
}

/// Decodes a list from an array or a comma-separated string, dropping empty items and duplicates.
pub fn list(value: &Value) -> Result<Vec<Value>, &'static str> {
    list_of(value, split_items)
}

/// Decodes a list like [`list`], but doesn't split the strings of an array, which can be names.
fn items(value: &Value) -> Result<Vec<Value>, &'static str> {
    list_of(value, |item| match item {
        Value::String(text) => filled_item(text).into_iter().collect(),
        other => vec![other.clone()],
    })
}

/// Decodes a list. `items_of` returns the items in a member of an array.
fn list_of(
    value: &Value,
    items_of: impl Fn(&Value) -> Vec<Value>,
) -> Result<Vec<Value>, &'static str> {
    let mut items: Vec<Value> = match value {
        Value::Array(items) => {
            items.iter().filter(|item| !item.is_null()).flat_map(items_of).collect()
        }
        Value::String(_) | Value::Number(_) => split_items(value),
        _ => return Err("must be a list"),
    };
    let mut seen = HashSet::new();
    items.retain(|item| seen.insert(item.to_string()));
    if items.len() > MAX_ITEMS { Err(TOO_MANY) } else { Ok(items) }
}

/// Splits a string at commas. Any other value becomes a single item.
pub fn split_items(value: &Value) -> Vec<Value> {
    match value {
        Value::String(text) => text.split(',').filter_map(filled_item).collect(),
        other => vec![other.clone()],
    }
}

/// Returns a trimmed item, or `None` if it is empty.
fn filled_item(text: &str) -> Option<Value> {
    let text = text.trim();
    (!text.is_empty()).then(|| Value::from(text.replace('\0', "")))
}

/// Decodes a list of positive integers.
pub fn ids(value: &Value) -> Result<Vec<i64>, &'static str> {
    let ids: Option<Vec<i64>> = list(value)?.iter().map(positive).collect();
    let ids = ids.ok_or("must be a list of positive integers")?;
    let mut seen = HashSet::new();
    Ok(ids.into_iter().filter(|id| seen.insert(*id)).collect())
}

/// Decodes a list of strings. Numbers are converted.
pub fn texts(value: &Value) -> Result<Vec<String>, &'static str> {
    let texts = list(value)?.into_iter().filter_map(|item| match item {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    });
    Ok(texts.collect())
}

fn date_input(value: &Value) -> Result<When, &'static str> {
    let written = match value {
        Value::Number(number) => number.to_string(),
        other => text(other)?,
    };
    When::parse(&written).map_err(|_| "must be a date")
}

fn slug_text(value: &Value) -> Result<String, &'static str> {
    let text = text(value)?;
    if slug::fits(&text) { Ok(text) } else { Err("must be at most 200 bytes long") }
}

fn event_status(value: &Value) -> Result<Occurring, &'static str> {
    let occurring = value.as_str().and_then(Occurring::parse);
    occurring.ok_or("must be scheduled, cancelled, postponed or rescheduled")
}

fn status(value: &Value) -> Result<Status, &'static str> {
    let status = Status::parse(&text(value)?).ok_or("must be a status of 1 to 20 characters")?;
    status.near_miss().map_or(Ok(status), |known| Err(meant(known)))
}

/// Returns the error message for a misspelling of the status `known`.
pub fn meant(known: &'static str) -> &'static str {
    match known {
        "publish" => "must be spelled publish",
        "future" => "must be spelled future",
        "draft" => "must be spelled draft",
        "pending" => "must be spelled pending",
        "private" => "must be spelled private",
        _ => "must be spelled trash",
    }
}

fn website(value: &Value) -> Result<String, &'static str> {
    let text = short_text(value)?.trim().replace("&amp;", "&");
    if !text.is_empty() && web_url(&text).is_none() {
        return Err("must be an absolute URL");
    }
    Ok(encoded_for_attribute(&text))
}

fn parent(value: &Value) -> Result<i64, &'static str> {
    if value.as_str().map(str::trim) == Some("0") {
        return Ok(0);
    }
    positive(value).ok_or("must be a positive integer")
}

fn id_or_zero(value: &Value) -> Result<i64, &'static str> {
    if value.as_i64() == Some(0) || value.as_str().map(str::trim) == Some("0") {
        return Ok(0);
    }
    positive(value).ok_or("must be a positive integer, or 0")
}

fn descending(value: &Value) -> Result<bool, &'static str> {
    match text(value)?.to_ascii_lowercase().as_str() {
        "asc" | "ascending" => Ok(false),
        "desc" | "descending" => Ok(true),
        _ => Err("must be asc or desc"),
    }
}

fn event_sort(value: &Value) -> Result<EventOrder, &'static str> {
    match text(value)?.as_str() {
        "start_date" => Ok(EventOrder::Start),
        "date" => Ok(EventOrder::Date),
        "title" => Ok(EventOrder::Title),
        "id" => Ok(EventOrder::Id),
        _ => Err("must be start_date, date, title or id"),
    }
}

fn term_sort(value: &Value) -> Result<TermOrder, &'static str> {
    match text(value)?.as_str() {
        "id" | "term_group" => Ok(TermOrder::Id),
        "name" => Ok(TermOrder::Name),
        "slug" => Ok(TermOrder::Slug),
        "description" => Ok(TermOrder::Description),
        "parent" => Ok(TermOrder::Parent),
        "count" => Ok(TermOrder::Count),
        "include" | "include_slugs" => Ok(TermOrder::Given),
        _ => Err("must be an attribute of terms"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn positive_accepts_integers_from_1_to_2_53() {
        for value in [json!(1), json!("1"), json!("1.0"), json!(1.0), json!("007")] {
            assert!(positive(&value).is_some(), "{value}");
        }
        for value in [
            json!(0),
            json!(-1),
            json!("-1"),
            json!("abc"),
            json!(1.5),
            json!("1.5"),
            json!(""),
            json!([1]),
            json!(true),
            json!("1e3"),
            json!("99999999999999999999"),
            json!("9007199254740992"),
            json!(9_007_199_254_740_992_i64),
        ] {
            assert!(positive(&value).is_none(), "{value}");
        }
    }

    #[test]
    fn boolean_words_decode_to_their_value() {
        for (value, read) in [
            (json!(true), Some(true)),
            (json!(0), Some(false)),
            (json!("TRUE"), Some(true)),
            (json!("0"), Some(false)),
            (json!("yes"), None),
            (json!(""), None),
            (json!(2), None),
        ] {
            assert_eq!(boolean(&value), read, "{value}");
        }
        for (value, read) in [
            (json!("Yes"), true),
            (json!("enabled"), true),
            (json!("no"), false),
            (json!(true), true),
            (json!("2"), false),
            (json!(""), false),
        ] {
            assert_eq!(lenient_flag(&value), read, "{value}");
        }
    }

    #[test]
    fn lists_decode_from_arrays_and_commas() {
        for value in [
            json!([1, 2]),
            json!("1, 2"),
            json!([1, "2", "1.0"]),
            json!(["1,2", ""]),
            json!("1,,2,1"),
        ] {
            assert_eq!(ids(&value), Ok(vec![1, 2]), "{value}");
        }
        assert!(ids(&json!("1,x")).is_err());
        assert_eq!(ids(&json!([])), Ok(vec![]));
        let many = |count: usize| json!((1..=count).chain(1..=count).collect::<Vec<_>>());
        assert_eq!(ids(&many(MAX_ITEMS)).unwrap().len(), MAX_ITEMS);
        assert_eq!(ids(&many(MAX_ITEMS + 1)), Err(TOO_MANY));
    }
}
