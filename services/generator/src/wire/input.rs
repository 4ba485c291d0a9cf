//! Reads parameters by the rules of every operation and collects all faults at once.
//!
//! Names ignore case, the first of several values counts, an empty optional value is none. Each
//! reader notes a fault and gives none, so that an operation reads everything before it gives up.

use jiff::civil::Date;
use shell::Violation;

use super::{Body, Query, Value};
use crate::model::seed::{MAX_SEED, Seed};

/// An operation's parameters (and body), read from a request.
pub trait Operation: Sized {
    /// The members of the body, in camelCase; none when the operation reads no body.
    const MEMBERS: &'static [&'static str] = &[];

    /// Reads everything; none only when a fault was noted.
    fn read(input: &mut Input<'_>) -> Option<Self>;
}

/// What a request brought, and the faults found in it so far.
pub struct Input<'a> {
    query: &'a Query,
    path: &'a str,
    body: Option<&'a Body>,
    faults: Vec<Violation>,
}

/// A fault was noted, so that no other need be.
struct Noted;

impl<'a> Input<'a> {
    /// An input without faults yet.
    pub fn new(query: &'a Query, path: &'a str, body: Option<&'a Body>) -> Self {
        let faults = body.map(|body| body.faults().to_vec()).unwrap_or_default();
        Self { query, path, body, faults }
    }

    /// The operation, or all faults.
    pub fn finish<T: Operation>(mut self) -> Result<T, Vec<Violation>> {
        match T::read(&mut self) {
            Some(operation) if self.faults.is_empty() => Ok(operation),
            _ => Err(self.faults),
        }
    }

    /// Notes a fault of a parameter or member.
    pub fn fault(&mut self, field: &str, message: String) {
        self.faults.push(Violation::new(field, "invalid", message));
    }

    /// The value of a query parameter; empty is none.
    pub fn value(&mut self, name: &str) -> Option<&'a str> {
        self.given(name).ok().flatten()
    }

    /// The value of a query parameter, or that a fault was noted because it is not text.
    fn given(&mut self, name: &str) -> Result<Option<&'a str>, Noted> {
        match self.query.first(name) {
            Some(Value::Text(text)) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
            Some(Value::Undecodable(sent)) => {
                self.not_valid(name, sent);
                Err(Noted)
            }
            None => Ok(None),
        }
    }

    /// An optional text of at most `longest` characters.
    pub fn text(&mut self, name: &str, longest: usize) -> Option<&'a str> {
        let value = self.value(name)?;
        self.short(name, value, longest)
    }

    /// A text that must be given.
    pub fn required_text(&mut self, name: &str, longest: usize) -> Option<&'a str> {
        match self.given(name).ok()?.filter(|value| !value.trim().is_empty()) {
            Some(value) => self.short(name, value, longest),
            None => {
                self.fault(name, format!("The {name} field is required."));
                None
            }
        }
    }

    /// A value of at most `longest` characters.
    pub fn short(&mut self, name: &str, value: &'a str, longest: usize) -> Option<&'a str> {
        if value.encode_utf16().count() <= longest {
            return Some(value);
        }
        self.fault(
            name,
            format!(
                "The field {name} must be a string or array type with a maximum length of \
                 '{longest}'."
            ),
        );
        None
    }

    /// A whole number of 32 bits that must be given and lie in a range.
    pub fn required_number(&mut self, name: &str, low: i32, high: i32) -> Option<i32> {
        let value = self.required_value(name)?;
        let Ok(number) = value.trim().parse::<i32>() else {
            self.not_valid(name, value);
            return None;
        };
        if (low..=high).contains(&number) {
            return Some(number);
        }
        self.fault(name, format!("The field {name} must be between {low} and {high}."));
        None
    }

    /// One of some words, in any case, that must be given.
    pub fn required_word<T: Copy>(&mut self, name: &str, words: &[(&str, T)]) -> Option<T> {
        let value = self.required_value(name)?;
        let word = value.trim();
        let found = words.iter().find(|(known, _)| known.eq_ignore_ascii_case(word));
        if found.is_none() {
            self.not_valid(name, value);
        }
        found.map(|(_, meaning)| *meaning)
    }

    fn required_value(&mut self, name: &str) -> Option<&'a str> {
        let value = self.given(name).ok()?;
        if value.is_none() {
            self.fault(
                name,
                format!("A value for the '{name}' parameter or property was not provided."),
            );
        }
        value
    }

    fn not_valid(&mut self, name: &str, value: &str) {
        self.fault(name, format!("The value '{value}' is not valid."));
    }

    /// Looks a value up in what `operation` lists.
    pub fn known<T>(&mut self, name: &str, value: &str, found: Option<T>, list: &str) -> Option<T> {
        if found.is_none() {
            self.fault(name, format!("The value '{value}' is not supported. See {list}."));
        }
        found
    }

    /// The variable part of the path.
    pub fn path(&self) -> &'a str {
        self.path
    }

    /// A member of the body that must hold 1 to `longest` characters; `name` is in PascalCase.
    pub fn required_member(&mut self, name: &str, longest: usize) -> Option<&'a str> {
        let body = self.body.filter(|body| body.is_object())?;
        let value = match body.member(name) {
            Some(Ok(value)) => value,
            Some(Err(message)) => {
                self.fault(&format!("$.{}", lower_first(name)), message);
                return None;
            }
            None => {
                self.fault(name, format!("The {name} field is required."));
                return None;
            }
        };
        if (1..=longest).contains(&value.encode_utf16().count()) {
            return Some(value);
        }
        self.fault(
            name,
            format!(
                "The field {name} must be a string with a minimum length of 1 and a maximum \
                 length of {longest}."
            ),
        );
        None
    }

    /// The seed of a generating operation.
    pub fn draw(&mut self) -> Draw {
        let text = self.text("seed", MAX_SEED);
        Draw { seed: text.and_then(|text| Seed::parse(text).ok()) }
    }

    /// The day that dates are relative to.
    pub fn reference_day(&mut self) -> Option<Date> {
        let value = self.value("refDate")?;
        let day = value.trim().parse::<Date>().ok().filter(|day| day.to_string() == value.trim());
        match day {
            None => self.not_valid("refDate", value),
            Some(day) if !(1000..=9000).contains(&day.year()) => {
                let message = "The field refDate must be between 1000-01-01 and 9000-12-31.";
                self.fault("refDate", message.to_owned());
            }
            Some(day) => return Some(day),
        }
        None
    }
}

fn lower_first(name: &str) -> String {
    name[..1].to_ascii_lowercase() + &name[1..]
}

/// What fixes the draws of a generating operation.
#[derive(Clone, Debug)]
pub struct Draw {
    /// The caller's seed.
    pub seed: Option<Seed>,
}
