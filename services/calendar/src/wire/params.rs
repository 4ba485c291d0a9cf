//! Parameters of a request from query, form and JSON, merged by name.

use serde_json::{Map, Value};

/// How deep brackets in names may nest; deeper ones are cut off.
const MAX_DEPTH: usize = 4;

/// The parameters of a request; `null` counts as not given.
#[derive(Clone, Debug, Default)]
pub struct Params(Map<String, Value>);

impl Params {
    /// Reads decoded name and value pairs; brackets in names build lists and objects.
    pub fn from_pairs<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Params {
        let mut map = Map::new();
        for (name, value) in pairs {
            let (head, keys) = split_name(name);
            insert(&mut map, head, &keys, value);
        }
        Params(map.into_iter().map(|(name, value)| (name, listed(value))).collect())
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

    /// Returns a parameter that is given.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// Returns a parameter that is given as a text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(Value::as_str)
    }
}

/// Splits `venue[0][city]` into `venue` and its keys; a broken bracket belongs to the name.
fn split_name(name: &str) -> (&str, Vec<&str>) {
    let Some(at) = name.find('[').filter(|_| name.ends_with(']')) else {
        return (name, Vec::new());
    };
    let keys = name[at + 1..name.len() - 1].split("][").take(MAX_DEPTH).collect();
    (&name[..at], keys)
}

fn insert(map: &mut Map<String, Value>, name: &str, keys: &[&str], value: &str) {
    let Some((key, rest)) = keys.split_first() else {
        map.insert(name.to_owned(), Value::from(value));
        return;
    };
    let slot = map.entry(name.to_owned()).or_insert_with(|| Value::Object(Map::new()));
    if !slot.is_object() {
        *slot = Value::Object(Map::new());
    }
    if let Value::Object(inner) = slot {
        let next = inner.len().to_string();
        insert(inner, if key.is_empty() { &next } else { key }, rest, value);
    }
}

/// Turns objects whose keys are all numbers into lists, in the order of the numbers.
fn listed(value: Value) -> Value {
    let Value::Object(map) = value else { return value };
    let numbers: Option<Vec<u64>> = map.keys().map(|key| key.parse().ok()).collect();
    let values = map.into_iter().map(|(key, value)| (key, listed(value)));
    match numbers {
        Some(numbers) if !numbers.is_empty() => {
            let mut items: Vec<(u64, Value)> =
                numbers.into_iter().zip(values.map(|(_, value)| value)).collect();
            items.sort_by_key(|(number, _)| *number);
            Value::Array(items.into_iter().map(|(_, value)| value).collect())
        }
        _ => Value::Object(values.collect()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(query: &str) -> Value {
        let pairs = web::Pairs::parse(query).unwrap();
        let pairs = pairs.0.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        Value::Object(Params::from_pairs(pairs).0)
    }

    #[test]
    fn brackets_build_lists_and_objects() {
        for (query, value) in [
            ("a[]=1&a[]=2", json!({"a": ["1", "2"]})),
            ("a[1]=2&a[0]=1", json!({"a": ["1", "2"]})),
            ("a=1&a=2", json!({"a": "2"})),
            (
                "venue[venue]=Hall&venue[city]=Graz",
                json!({"venue": {"venue": "Hall", "city": "Graz"}}),
            ),
            (
                "o[0][organizer]=A&o[1][organizer]=B",
                json!({"o": [{"organizer": "A"}, {"organizer": "B"}]}),
            ),
            ("a[=1", json!({"a[": "1"})),
        ] {
            assert_eq!(read(query), value, "{query}");
        }
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
