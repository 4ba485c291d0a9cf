//! JSON objects whose members stand in the order in which they were named.

use serde::{Serialize, Serializer};

/// The members of an object; each name stands once.
pub struct Members<K, V>(pub Vec<(K, V)>);

impl<K, V> FromIterator<(K, V)> for Members<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(members: I) -> Members<K, V> {
        Members(members.into_iter().collect())
    }
}

impl<K: Serialize, V: Serialize> Serialize for Members<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}
