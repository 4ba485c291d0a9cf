//! Parameters of a request from query, form and JSON, merged by name.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// How deep brackets in names may nest; deeper ones are cut off.
const MAX_DEPTH: usize = 4;

/// The parameters of a request; `null` counts as not given.
#[derive(Clone, Debug, Default)]
pub struct Params(Map<String, Value>);

impl Params {
    /// Reads decoded name and value pairs; brackets in names build lists and objects.
    pub fn from_pairs<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Params {
        let mut root = Branch::default();
        for (name, value) in pairs {
            let (head, keys) = split_name(name);
            root.insert(head, &keys, value);
        }
        Params(root.members.into_iter().map(|(name, node)| (name, node.value())).collect())
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

/// What stands at a name while pairs are read.
enum Node {
    Text(String),
    Branch(Branch),
}

/// What brackets have built so far.
#[derive(Default)]
struct Branch {
    members: BTreeMap<String, Node>,
    /// The largest number among the keys.
    largest: Option<u64>,
}

impl Branch {
    /// Puts a value below its keys; empty brackets stand for the number behind the largest one.
    fn insert(&mut self, key: &str, deeper: &[&str], value: &str) {
        let next = self.largest.map_or(Some(0), |largest| largest.checked_add(1));
        let number = if key.is_empty() { next } else { key.parse().ok() };
        let key = match (key, number) {
            ("", Some(number)) => number.to_string(),
            // Behind the last number of all there is no room.
            ("", None) => return,
            (key, _) => key.to_owned(),
        };
        self.largest = self.largest.max(number);
        let Some((next, deeper)) = deeper.split_first() else {
            self.members.insert(key, Node::Text(value.to_owned()));
            return;
        };
        let slot = self.members.entry(key).or_insert_with(Node::branch);
        if matches!(slot, Node::Text(_)) {
            *slot = Node::branch();
        }
        if let Node::Branch(inner) = slot {
            inner.insert(next, deeper, value);
        }
    }
}

impl Node {
    fn branch() -> Node {
        Node::Branch(Branch::default())
    }

    /// Turns branches whose keys are all numbers into lists, in the order of the numbers.
    fn value(self) -> Value {
        let members = match self {
            Node::Text(text) => return Value::from(text),
            Node::Branch(branch) => branch.members,
        };
        let numbers: Option<Vec<u64>> = members.keys().map(|key| key.parse().ok()).collect();
        let values = members.into_iter().map(|(key, node)| (key, node.value()));
        let Some(numbers) = numbers else { return Value::Object(values.collect()) };
        let mut items: Vec<(u64, Value)> =
            numbers.into_iter().zip(values.map(|(_, value)| value)).collect();
        items.sort_by_key(|(number, _)| *number);
        Value::Array(items.into_iter().map(|(_, value)| value).collect())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(query: &str) -> Value {
        let pairs = shell::Pairs::parse(query).unwrap();
        let pairs = pairs.0.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        Value::Object(Params::from_pairs(pairs).0)
    }

    #[test]
    fn brackets_build_lists_and_objects() {
        for (query, value) in [
            ("a[]=1&a[]=2", json!({"a": ["1", "2"]})),
            ("a[1]=2&a[0]=1", json!({"a": ["1", "2"]})),
            ("a[1]=x&a[]=y", json!({"a": ["x", "y"]})),
            ("a[7]=x&a[]=y&a[2]=z&a[]=w", json!({"a": ["z", "x", "y", "w"]})),
            ("a[k]=x&a[]=y&a[]=z", json!({"a": {"k": "x", "0": "y", "1": "z"}})),
            ("a[18446744073709551615]=x&a[]=y", json!({"a": ["x"]})),
            ("a[][n]=1&a[][n]=2", json!({"a": [{"n": "1"}, {"n": "2"}]})),
            ("a[x]=1&a=2&a[]=3", json!({"a": ["3"]})),
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
