//! Builds lists and objects from names with brackets.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Maximum depth of brackets in a name. Anything deeper is dropped.
const MAX_DEPTH: usize = 4;

/// Builds lists and objects from names with brackets. If a name is repeated, its last value wins.
///
/// `a[]=1&a[]=2` and `a[0]=1&a[1]=2` become lists, and `a[b]=1` becomes an object. Brackets can be
/// nested up to four levels deep.
///
/// ```
/// use serde_json::json;
/// use shell::params::{Input, bracketed};
///
/// let input = Input::query("venue[city]=Graz&tags[]=1&tags[]=2&page=3");
/// let members = bracketed(input.texts());
/// assert_eq!(
///     serde_json::Value::Object(members),
///     json!({"venue": {"city": "Graz"}, "tags": ["1", "2"], "page": "3"})
/// );
/// ```
pub fn bracketed<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Map<String, Value> {
    let mut root = Branch::default();
    for (name, value) in pairs {
        let (head, keys) = split_name(name);
        root.insert(head, &keys, value);
    }
    root.members.into_iter().map(|(name, node)| (name, node.value())).collect()
}

/// Splits a name like `venue[0][city]` into `venue` and its keys. Unbalanced brackets are left in
/// the name.
fn split_name(name: &str) -> (&str, Vec<&str>) {
    let Some(at) = name.find('[').filter(|_| name.ends_with(']')) else {
        return (name, Vec::new());
    };
    let keys = name[at + 1..name.len() - 1].split("][").take(MAX_DEPTH).collect();
    (&name[..at], keys)
}

/// A name's value while pairs are still being read.
enum Node {
    Text(String),
    Branch(Branch),
}

/// A list or object under construction.
#[derive(Default)]
struct Branch {
    members: BTreeMap<String, Node>,
    /// The largest numeric key.
    largest: Option<u64>,
}

impl Branch {
    /// Inserts a value below its keys. Empty brackets mean the largest number so far plus one.
    fn insert(&mut self, key: &str, deeper: &[&str], value: &str) {
        let next = self.largest.map_or(Some(0), |largest| largest.checked_add(1));
        let number = if key.is_empty() { next } else { key.parse().ok() };
        let key = match (key, number) {
            ("", Some(number)) => number.to_string(),
            // The largest number has no successor.
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

    /// Converts a node to a JSON value. A branch becomes a list in numeric order if all of its keys
    /// are numbers, and an object otherwise.
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
    use crate::params::Input;

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
            ("o[0][n]=A&o[1][n]=B", json!({"o": [{"n": "A"}, {"n": "B"}]})),
            ("a[=1", json!({"a[": "1"})),
        ] {
            assert_eq!(Value::Object(bracketed(Input::query(query).texts())), value, "{query}");
        }
    }
}
