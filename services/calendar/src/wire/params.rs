//! Parameters of a request from query, form and JSON, merged by name.

use serde_json::{Map, Value};
use shell::params::bracketed;

/// Lists that may also come as one pair for each member, as forms and generated clients send them.
const LISTS: [&str; 6] = ["categories", "tags", "venue", "organizer", "include", "exclude"];

/// The parameters of a request; `null` counts as not given.
#[derive(Clone, Debug, Default)]
pub struct Params(Map<String, Value>);

impl Params {
    /// Reads decoded name and value pairs; brackets in names build lists and objects, and so do
    /// lists whose name is repeated.
    pub fn from_pairs<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Params {
        let pairs: Vec<(&str, &str)> = pairs.into_iter().collect();
        let mut members = bracketed(pairs.iter().copied());
        for name in LISTS {
            let values = pairs.iter().filter(|(other, _)| *other == name).map(|(_, value)| *value);
            let values: Vec<&str> = values.collect();
            if values.len() > 1 {
                members.insert(name.to_owned(), values.into());
            }
        }
        Params(members)
    }

    /// Takes the members of a JSON object; anything else holds no parameters.
    pub fn from_json(value: Value) -> Params {
        match value {
            Value::Object(map) => Params(map),
            _ => Params::default(),
        }
    }

    /// Lays other parameters over these: theirs win unless they are `null`.
    pub fn overlaid(mut self, others: Params) -> Params {
        for (name, value) in others.0 {
            if !(value.is_null() && self.0.contains_key(&name)) {
                self.0.insert(name, value);
            }
        }
        self
    }

    /// Returns all parameters as members of an object.
    pub fn members(&self) -> &Map<String, Value> {
        &self.0
    }

    /// Returns a parameter that is given.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// Returns a parameter that is given as a text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(Value::as_str)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn repeated_names_are_lists_where_lists_are_taken() {
        let params =
            Params::from_pairs([("tags", "a,b"), ("page", "1"), ("tags", "c"), ("page", "2")]);
        assert_eq!(params.get("tags"), Some(&json!(["a,b", "c"])));
        assert_eq!(params.get("page"), Some(&json!("2")));
        let bracketed = Params::from_pairs([("tags[]", "a"), ("tags[]", "b")]);
        assert_eq!(bracketed.get("tags"), Some(&json!(["a", "b"])));
    }

    #[test]
    fn null_does_not_cover_what_is_given() {
        let query = Params::from_pairs([("a", "1"), ("b", "2")]);
        let merged = query.overlaid(Params::from_json(json!({"a": null, "b": 3, "c": null})));
        assert_eq!(merged.text("a"), Some("1"));
        assert_eq!(merged.get("b"), Some(&json!(3)));
        assert_eq!(merged.get("c"), None);
    }
}
