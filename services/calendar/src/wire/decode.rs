//! Decoding of single parameters; every failing name is remembered, so that all are reported.

use std::collections::HashSet;

use serde_json::Value;

use super::params::Params;
use crate::model::image::web_url;
use crate::model::slug;

/// The longest title or short text, in characters.
const SHORT: usize = 1000;

/// The most members of a list.
pub const MOST_MEMBERS: usize = 1000;

/// What is said of a list with more of them.
pub const TOO_MANY: &str = "must have at most 1000 members";

/// A parameter that fails its validation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidParameter {
    pub name: &'static str,
    pub text: String,
    /// Code of the detail that goes with it, where there is one.
    pub detail: Option<&'static str>,
}

/// Every parameter that is missing or fails its validation; missing ones are reported first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParameterErrors {
    pub missing: Vec<&'static str>,
    pub invalid: Vec<InvalidParameter>,
}

impl ParameterErrors {
    /// A single parameter that fails its validation.
    pub fn one(name: &'static str, text: &str) -> ParameterErrors {
        let problem = InvalidParameter { name, text: text.to_owned(), detail: None };
        ParameterErrors { missing: Vec::new(), invalid: vec![problem] }
    }
}

/// Reads parameters one after the other.
pub struct Decoder<'a> {
    params: &'a Params,
    errors: ParameterErrors,
}

impl<'a> Decoder<'a> {
    /// Begins to read.
    pub fn new(params: &'a Params) -> Decoder<'a> {
        Decoder { params, errors: ParameterErrors::default() }
    }

    /// Ends reading: the value when nothing failed, else everything that did.
    pub fn finish<T>(self, value: T) -> Result<T, ParameterErrors> {
        if self.errors == ParameterErrors::default() { Ok(value) } else { Err(self.errors) }
    }

    /// Returns a parameter that is given, as it is.
    pub fn raw(&self, name: &'static str) -> Option<&'a Value> {
        self.params.get(name)
    }

    /// Notes that a parameter fails.
    pub fn fail(&mut self, name: &'static str, text: impl Into<String>) {
        if !self.errors.invalid.iter().any(|problem| problem.name == name) {
            self.errors.invalid.push(InvalidParameter { name, text: text.into(), detail: None });
        }
    }

    /// Notes a required parameter that is not given.
    pub fn require(&mut self, name: &'static str) {
        if self.params.get(name).is_none() {
            self.errors.missing.push(name);
        }
    }

    /// Applies a check that answers with a value or with the text of what is wrong.
    pub fn check<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&'a Value) -> Result<T, &'static str>,
    ) -> Option<T> {
        match read(self.params.get(name)?) {
            Ok(value) => Some(value),
            Err(text) => {
                self.fail(name, text);
                None
            }
        }
    }

    /// Reads a text of any length.
    pub fn long_text(&mut self, name: &'static str) -> Option<String> {
        self.check(name, text)
    }

    /// Reads a text of at most a thousand characters.
    pub fn short_text(&mut self, name: &'static str) -> Option<String> {
        self.check(name, |value| {
            let text = text(value)?;
            if text.chars().count() > SHORT {
                return Err("must be at most 1000 characters long");
            }
            Ok(text)
        })
    }

    /// Reads a short text that is not blank.
    pub fn filled_text(&mut self, name: &'static str) -> Option<String> {
        let text = self.short_text(name)?;
        if text.trim().is_empty() {
            self.fail(name, "must not be empty");
            return None;
        }
        Some(text)
    }

    /// Reads the source of a slug.
    pub fn slug(&mut self, name: &'static str) -> Option<String> {
        self.check(name, |value| {
            let text = text(value)?;
            slug::fits(&text).then_some(text).ok_or("must be at most 200 bytes long")
        })
    }

    /// Reads an absolute address of the web, or an empty text.
    pub fn website(&mut self, name: &'static str) -> Option<String> {
        let text = self.short_text(name)?.trim().replace("&amp;", "&");
        if !text.is_empty() && web_url(&text).is_none() {
            self.fail(name, "must be an absolute URL");
            return None;
        }
        Some(text)
    }

    /// Reads a boolean; anything else fails with a detail.
    pub fn boolean(&mut self, name: &'static str) -> Option<bool> {
        let value = self.params.get(name)?;
        let read = match value {
            Value::Bool(flag) => Some(*flag),
            Value::Number(number) if number.as_i64() == Some(1) => Some(true),
            Value::Number(number) if number.as_i64() == Some(0) => Some(false),
            Value::String(text) => match text.to_ascii_lowercase().as_str() {
                "true" | "1" => Some(true),
                "false" | "0" => Some(false),
                _ => None,
            },
            _ => None,
        };
        if read.is_none() {
            let text = "must be a boolean".to_owned();
            let detail = Some("rest_invalid_type");
            self.errors.invalid.push(InvalidParameter { name, text, detail });
        }
        read
    }

    /// Reads a flag that knows only some words for yes; everything else is no.
    pub fn flag(&mut self, name: &'static str) -> Option<bool> {
        const YES: [&str; 7] = ["1", "enable", "enabled", "on", "y", "yes", "true"];
        Some(match self.params.get(name)? {
            Value::Bool(flag) => *flag,
            Value::Number(number) => number.as_i64() == Some(1),
            Value::String(text) => YES.contains(&text.to_ascii_lowercase().as_str()),
            _ => false,
        })
    }

    /// Reads a whole number above zero.
    pub fn positive(&mut self, name: &'static str) -> Option<i64> {
        self.check(name, |value| positive(value).ok_or("must be a positive integer"))
    }

    /// Reads a number within bounds.
    pub fn number(&mut self, name: &'static str, low: f64, high: f64) -> Option<f64> {
        self.check(name, |value| {
            let number = match value {
                Value::Number(number) => number.as_f64(),
                Value::String(text) => text.trim().parse().ok(),
                _ => None,
            };
            let number = number.filter(|number: &f64| (low..=high).contains(number));
            number.ok_or("must be a number in range")
        })
    }

    /// Reads a list: an array, or texts parted by commas; empty members are dropped, and what
    /// comes twice counts once.
    pub fn list(&mut self, name: &'static str) -> Option<Vec<Value>> {
        self.check(name, |value| {
            let mut items: Vec<Value> = match value {
                Value::Array(items) => {
                    items.iter().filter(|item| !item.is_null()).flat_map(members).collect()
                }
                Value::String(_) | Value::Number(_) => members(value),
                _ => return Err("must be a list"),
            };
            let mut seen = HashSet::new();
            items.retain(|item| seen.insert(item.to_string()));
            if items.len() > MOST_MEMBERS { Err(TOO_MANY) } else { Ok(items) }
        })
    }

    /// Reads a list of whole numbers above zero.
    pub fn ids(&mut self, name: &'static str) -> Option<Vec<i64>> {
        let items = self.list(name)?;
        let ids: Option<Vec<i64>> = items.iter().map(positive).collect();
        if ids.is_none() {
            self.fail(name, "must be a list of positive integers");
        }
        let mut seen = HashSet::new();
        ids.map(|ids| ids.into_iter().filter(|id| seen.insert(*id)).collect())
    }

    /// Reads a list of texts, numbers written out.
    pub fn words(&mut self, name: &'static str) -> Option<Vec<String>> {
        let items = self.list(name)?;
        let words = items.into_iter().filter_map(|item| match item {
            Value::String(text) => Some(text),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        });
        Some(words.collect())
    }
}

/// Splits a text at its commas; other values stay whole.
fn members(value: &Value) -> Vec<Value> {
    match value {
        Value::String(text) => text
            .split(',')
            .map(str::trim)
            .filter(|text| !text.is_empty())
            .map(|text| Value::from(text.replace('\0', "")))
            .collect(),
        other => vec![other.clone()],
    }
}

/// Reads a text; characters that no database keeps are dropped.
pub fn text(value: &Value) -> Result<String, &'static str> {
    value.as_str().map(|text| text.replace('\0', "")).ok_or("must be a string")
}

/// Reads a whole number above zero, also written `1.0` or as a text.
pub fn positive(value: &Value) -> Option<i64> {
    let whole = |number: f64| {
        // Beyond 2^53 a float does not tell neighbours apart, so no id can be meant by it.
        let fits = number.fract() == 0.0 && number > 0.0 && number < 9_007_199_254_740_992.0;
        #[expect(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
        fits.then_some(number as i64)
    };
    match value {
        Value::Number(number) => {
            number.as_i64().filter(|n| *n > 0).or_else(|| whole(number.as_f64()?))
        }
        Value::String(text) => {
            let text = text.trim();
            let plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
            let number = text.parse().ok().or_else(|| whole(text.parse().ok()?));
            number.filter(|n: &i64| plain && *n > 0)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn decode<T>(
        value: Value,
        read: impl FnOnce(&mut Decoder<'_>) -> Option<T>,
    ) -> Result<Option<T>, String> {
        let params = Params::from_json(json!({ "x": value }));
        let mut decoder = Decoder::new(&params);
        let value = read(&mut decoder);
        decoder.finish(value).map_err(|errors| errors.invalid[0].text.clone())
    }

    #[test]
    fn positive_integers() {
        for value in [json!(1), json!("1"), json!("1.0"), json!(1.0), json!("007")] {
            assert!(decode(value.clone(), |d| d.positive("x")).unwrap().is_some(), "{value}");
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
        ] {
            assert!(decode(value.clone(), |d| d.positive("x")).is_err(), "{value}");
        }
        assert_eq!(decode(Value::Null, |d| d.positive("x")), Ok(None));
    }

    #[test]
    fn booleans_and_flags() {
        for (value, read) in [
            (json!(true), Some(true)),
            (json!(0), Some(false)),
            (json!("TRUE"), Some(true)),
            (json!("0"), Some(false)),
            (json!("yes"), None),
            (json!(""), None),
            (json!(2), None),
        ] {
            assert_eq!(decode(value.clone(), |d| d.boolean("x")).ok().flatten(), read, "{value}");
        }
        for (value, read) in [
            (json!("Yes"), true),
            (json!("enabled"), true),
            (json!("no"), false),
            (json!(true), true),
            (json!("2"), false),
            (json!(""), false),
        ] {
            assert_eq!(decode(value.clone(), |d| d.flag("x")), Ok(Some(read)), "{value}");
        }
    }

    #[test]
    fn lists_come_as_arrays_or_with_commas() {
        for value in [
            json!([1, 2]),
            json!("1, 2"),
            json!([1, "2", "1.0"]),
            json!(["1,2", ""]),
            json!("1,,2,1"),
        ] {
            assert_eq!(decode(value.clone(), |d| d.ids("x")), Ok(Some(vec![1, 2])), "{value}");
        }
        assert!(decode(json!("1,x"), |d| d.ids("x")).is_err());
        assert_eq!(decode(json!([]), |d| d.ids("x")), Ok(Some(vec![])));
        let many = |count: usize| json!((1..=count).chain(1..=count).collect::<Vec<_>>());
        let read = decode(many(MOST_MEMBERS), |d| d.ids("x")).unwrap().unwrap();
        assert_eq!(read.len(), MOST_MEMBERS);
        assert_eq!(decode(many(MOST_MEMBERS + 1), |d| d.ids("x")), Err(TOO_MANY.to_owned()));
    }
}
