//! Reads the members of a JSON object and collects errors.

use serde_json::{Map, Value};

use super::fault::Faults;

/// Returns a whole number, which can also be written as `1.0` or `1e3`.
fn whole(value: &Value) -> Option<i64> {
    const EXACT: f64 = (1_i64 << 53) as f64;
    let is_whole = |number: &f64| number.fract() == 0.0 && number.abs() < EXACT;
    value.as_i64().or_else(|| value.as_f64().filter(is_whole).map(|number| number as i64))
}

/// The members of an object. Members that are never read are reported as errors.
pub struct Members<'a> {
    /// JSON pointer to the object.
    pub pointer: String,
    map: &'a Map<String, Value>,
    known: Vec<&'static str>,
}

impl<'a> Members<'a> {
    /// Starts reading an object. Reports an error if the value isn't an object.
    pub fn of(value: &'a Value, pointer: String, faults: &mut Faults) -> Option<Self> {
        match value {
            Value::Object(map) => Some(Self { pointer, map, known: Vec::new() }),
            _ => {
                faults.add(pointer, "must be an object");
                None
            }
        }
    }

    /// Returns the JSON pointer to a member.
    pub fn at(&self, name: &str) -> String {
        format!("{}/{}", self.pointer, name.replace('~', "~0").replace('/', "~1"))
    }

    /// Returns the value of a member, and marks the member as known.
    pub fn value(&mut self, name: &'static str) -> Option<&'a Value> {
        if !self.known.contains(&name) {
            self.known.push(name);
        }
        self.map.get(name)
    }

    /// Returns the value of a required member. Reports an error if it is missing.
    pub fn required(&mut self, name: &'static str, faults: &mut Faults) -> Option<&'a Value> {
        let value = self.value(name);
        if value.is_none() {
            faults.add(self.at(name), "is required");
        }
        value
    }

    fn typed<T>(
        &mut self,
        name: &'static str,
        what: &str,
        faults: &mut Faults,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Option<T> {
        let value = self.value(name)?;
        let read = read(value);
        if read.is_none() {
            faults.add(self.at(name), format!("must be {what}"));
        }
        read
    }

    /// Returns the value of a string member.
    pub fn text(&mut self, name: &'static str, faults: &mut Faults) -> Option<&'a str> {
        self.typed(name, "a text", faults, Value::as_str)
    }

    /// Returns the value of a boolean member. Defaults to `false`.
    pub fn flag(&mut self, name: &'static str, faults: &mut Faults) -> bool {
        self.typed(name, "true or false", faults, Value::as_bool).unwrap_or(false)
    }

    /// Returns the value of an integer member, which must be within the given bounds, or else the
    /// default.
    pub fn integer(
        &mut self,
        name: &'static str,
        default: i64,
        (least, most): (i64, i64),
        faults: &mut Faults,
    ) -> i64 {
        let what = format!("a whole number from {least} to {most}");
        let fits = |value: &Value| whole(value).filter(|found| (least..=most).contains(found));
        self.typed(name, &what, faults, fits).unwrap_or(default)
    }

    /// Returns the value of a number member, or else the default.
    pub fn number(&mut self, name: &'static str, default: f64, faults: &mut Faults) -> f64 {
        self.typed(name, "a number", faults, Value::as_f64).unwrap_or(default)
    }

    /// Returns the value of a number member between 0 and 1, or else the default.
    pub fn share(&mut self, name: &'static str, default: f64, faults: &mut Faults) -> f64 {
        let fits = |value: &Value| value.as_f64().filter(|share| (0.0..=1.0).contains(share));
        self.typed(name, "a share from 0 to 1, such as 0.1", faults, fits).unwrap_or(default)
    }

    /// Returns the value of an array member.
    pub fn array(&mut self, name: &'static str, faults: &mut Faults) -> Option<&'a [Value]> {
        self.typed(name, "an array", faults, |value| value.as_array().map(Vec::as_slice))
    }

    /// Maps the word in a member to a value, using `words`. Defaults to the first one.
    pub fn word<T: Copy>(
        &mut self,
        name: &'static str,
        words: &[(&str, T)],
        faults: &mut Faults,
    ) -> Option<T> {
        let names: Vec<_> = words.iter().map(|(word, _)| *word).collect();
        let what = format!("one of {}", names.join(", "));
        let find = |value: &Value| {
            let wanted = value.as_str()?;
            words.iter().find(|(word, _)| *word == wanted).map(|(_, found)| *found)
        };
        match self.map.contains_key(name) {
            true => self.typed(name, &what, faults, find),
            false => {
                self.known.push(name);
                words.first().map(|(_, first)| *first)
            }
        }
    }

    /// Reports all members that were never read. `what` describes the object in messages.
    pub fn end(self, what: &str, faults: &mut Faults) {
        for name in self.map.keys().filter(|name| !self.known.contains(&name.as_str())) {
            let known = self.known.join(", ");
            faults.add(self.at(name), format!("is unknown; {what} takes {known}"));
        }
    }
}
