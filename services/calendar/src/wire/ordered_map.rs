//! JSON objects that preserve key order.

use serde::{Serialize, Serializer};

/// The entries of an object. Keys must be unique.
pub struct OrderedMap<K, V>(pub Vec<(K, V)>);

impl<K, V> FromIterator<(K, V)> for OrderedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(members: I) -> OrderedMap<K, V> {
        OrderedMap(members.into_iter().collect())
    }
}

impl<K: Serialize, V: Serialize> Serialize for OrderedMap<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}
