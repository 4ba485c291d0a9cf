//! All breaches, in memory and in response order.

use std::collections::HashMap;

use super::breach::Breach;
use super::id_list;

/// A particular version of the breach catalogue.
#[derive(Debug, Default)]
pub struct Catalogue {
    /// Incremented on every change.
    pub version: i64,
    /// When the catalogue last changed, in Unix seconds.
    pub changed_at: i64,
    breaches: Vec<Breach>,
    by_id: HashMap<u16, usize>,
    by_name: HashMap<String, usize>,
    data_classes: Vec<String>,
}

impl Catalogue {
    /// Creates a catalogue sorted by lowercase title, then by name.
    pub fn new(
        version: i64,
        changed_at: i64,
        mut breaches: Vec<Breach>,
        mut data_classes: Vec<String>,
    ) -> Self {
        breaches.sort_by_cached_key(|breach| (breach.title.to_lowercase(), breach.name.clone()));
        data_classes.sort_by_cached_key(|class| (class.to_lowercase(), class.clone()));
        let indexes = || breaches.iter().enumerate();
        let by_id = indexes().map(|(index, breach)| (breach.id, index)).collect();
        let by_name =
            indexes().map(|(index, breach)| (breach.name.to_lowercase(), index)).collect();
        Self { version, changed_at, breaches, by_id, by_name, data_classes }
    }

    /// Counts active, inactive and retired breaches.
    pub fn states(&self) -> [i64; 3] {
        let mut states = [0; 3];
        for breach in &self.breaches {
            let place = if breach.flags.retired { 2 } else { usize::from(!breach.active) };
            states[place] += 1;
        }
        states
    }

    /// Returns all breaches, including inactive ones, sorted by title.
    pub fn all(&self) -> &[Breach] {
        &self.breaches
    }

    /// Returns the index of a breach in [`Catalogue::all`].
    pub fn index(&self, id: u16) -> Option<usize> {
        self.by_id.get(&id).copied()
    }

    /// Looks up a breach by id.
    pub fn by_id(&self, id: u16) -> Option<&Breach> {
        self.breaches.get(self.index(id)?)
    }

    /// Returns the index of a listed breach, given its name in any case.
    pub fn listed_index(&self, name: &str) -> Option<usize> {
        let index = *self.by_name.get(&name.to_lowercase())?;
        self.breaches.get(index).is_some_and(Breach::listed).then_some(index)
    }

    /// Looks up a breach by name, ignoring case, regardless of its state.
    pub fn by_name(&self, name: &str) -> Option<&Breach> {
        self.breaches.get(*self.by_name.get(&name.to_lowercase())?)
    }

    /// Returns the index of the most recently added listed breach. If several were added at the
    /// same time, the first by name wins.
    pub fn latest(&self) -> Option<usize> {
        let listed = self.breaches.iter().enumerate().filter(|(_, breach)| breach.listed());
        listed
            .min_by(|(_, a), (_, b)| (b.added, &a.name).cmp(&(a.added, &b.name)))
            .map(|(index, _)| index)
    }

    /// Returns all known data classes in case-insensitive order.
    pub fn data_classes(&self) -> &[String] {
        &self.data_classes
    }

    /// Returns the indexes of an account's breaches that pass `shown`, in response order.
    pub fn indexes(&self, list: &[u8], shown: impl Fn(&Breach) -> bool) -> Vec<usize> {
        let mut indexes: Vec<usize> = id_list::ids(list)
            .filter_map(|id| self.index(id))
            .filter(|index| self.breaches.get(*index).is_some_and(&shown))
            .collect();
        indexes.sort_unstable();
        indexes
    }

    /// Returns the names of an account's breaches that pass `shown`, in byte order.
    pub fn names(&self, list: &[u8], shown: impl Fn(&Breach) -> bool) -> Vec<&str> {
        let mut names: Vec<&str> = id_list::ids(list)
            .filter_map(|id| self.by_id(id))
            .filter(|breach| shown(breach))
            .map(|breach| breach.name.as_str())
            .collect();
        names.sort_unstable();
        names
    }

    /// Returns `true` if any of an account's breaches passes `shown`.
    pub fn any(&self, list: &[u8], shown: impl Fn(&Breach) -> bool) -> bool {
        id_list::ids(list).filter_map(|id| self.by_id(id)).any(shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::test_data;

    fn catalogue() -> Catalogue {
        let breaches = test_data::fixtures()
            .into_iter()
            .zip(1..)
            .map(|(fixture, id)| Breach { id, ..fixture })
            .collect();
        Catalogue::new(1, 0, breaches, vec!["b".into(), "A".into(), "C".into()])
    }

    #[test]
    fn data_classes_are_sorted_ignoring_case() {
        assert_eq!(catalogue().data_classes(), ["A", "b", "C"]);
    }

    #[test]
    fn sensitive_and_inactive_breaches_are_hidden() {
        let catalogue = catalogue();
        let all = id_list::pack(&(1..=9).collect::<Vec<_>>());
        let address = catalogue.names(&all, Breach::shown_for_address);
        let domain = catalogue.names(&all, Breach::shown_for_domain);
        assert!(!address.contains(&"Duskmatch") && domain.contains(&"Duskmatch"));
        assert!(!address.contains(&"Emberforum") && !domain.contains(&"Emberforum"));
        assert!(address.contains(&"Glowmailer") && address.contains(&"Inkwell"));
    }

    #[test]
    fn breach_is_found_by_name_in_any_case_and_listed_if_active() {
        let catalogue = catalogue();
        assert!(catalogue.listed_index("ACMEGRAM").is_some());
        assert!(catalogue.listed_index("Emberforum").is_none());
        assert!(catalogue.by_name("emberforum").is_some());
    }
}
