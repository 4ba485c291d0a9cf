//! Request parameters, merged by name from the query, form and JSON body.

use serde_json::{Map, Value};
use shell::params::bracketed;

use super::values::split_items;

/// Lists that clients can send by repeating their name, as HTML forms and generated clients do.
const LISTS: [&str; 6] = ["categories", "tags", "venue", "organizer", "include", "exclude"];

/// Lists of names. In forms and queries, each of their values is a comma-separated list.
const NAMES: [&str; 2] = ["categories", "tags"];

/// Request parameters. `null` counts as absent.
#[derive(Clone, Debug, Default)]
pub struct Params(Map<String, Value>);

impl Params {
    /// Creates parameters from decoded name-value pairs. Bracketed names (e.g. `venue[city]`)
    /// become lists and objects, and repeated names become lists.
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
        for name in NAMES {
            if let Some(Value::Array(items)) = members.get_mut(name) {
                *items = items.iter().flat_map(split_items).collect();
            }
        }
        Params(members)
    }

    /// Creates parameters from the members of a JSON object. Any other value is ignored.
    pub fn from_json(value: Value) -> Params {
        match value {
            Value::Object(map) => Params(map),
            _ => Params::default(),
        }
    }

    /// Overrides these parameters with the ones in `others`. A `null` never overrides a value.
    pub fn overlaid(mut self, others: Params) -> Params {
        for (name, value) in others.0 {
            if !(value.is_null() && self.0.contains_key(&name)) {
                self.0.insert(name, value);
            }
        }
        self
    }

    /// Returns all parameters as a JSON object.
    pub fn members(&self) -> &Map<String, Value> {
        &self.0
    }

    /// Returns the value of the parameter `name`, or `None` if it is absent.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// Returns the value of the parameter `name` if it is a string.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(Value::as_str)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn repeated_names_form_lists_only_for_list_parameters() {
        let params =
            Params::from_pairs([("tags", "a,b"), ("page", "1"), ("tags", "c"), ("page", "2")]);
        assert_eq!(params.get("tags"), Some(&json!(["a", "b", "c"])));
        assert_eq!(params.get("page"), Some(&json!("2")));
        let bracketed = Params::from_pairs([("tags[]", "a"), ("tags[]", "b")]);
        assert_eq!(bracketed.get("tags"), Some(&json!(["a", "b"])));
    }

    #[test]
    fn null_does_not_override_a_value() {
        let query = Params::from_pairs([("a", "1"), ("b", "2")]);
        let merged = query.overlaid(Params::from_json(json!({"a": null, "b": 3, "c": null})));
        assert_eq!(merged.text("a"), Some("1"));
        assert_eq!(merged.get("b"), Some(&json!(3)));
        assert_eq!(merged.get("c"), None);
    }
}
