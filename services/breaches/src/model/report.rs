//! Reports on new exposures at a domain. Defines which breaches are new and what is counted.

use std::collections::{BTreeMap, BTreeSet};

use super::breach::Breach;

/// The period in which a breach must have been added to count as new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// First second.
    pub since: i64,
    /// End, exclusive.
    pub until: i64,
}

impl Period {
    /// Returns `true` if the breach was added during this period.
    pub fn contains(self, breach: &Breach) -> bool {
        (self.since..self.until).contains(&breach.added)
    }
}

/// Report totals, updated as addresses are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exposures {
    /// Addresses in any breach, new or old.
    pub breached: i64,
    /// Addresses in a new breach.
    pub exposed: i64,
    /// Number of exposed addresses that had never been breached before.
    pub first: i64,
    /// Number of exposed addresses that are in more than one breach, new or old.
    pub repeated: i64,
    /// Pairs of an address and a new breach.
    pub links: i64,
    by_breach: BTreeMap<u16, i64>,
    by_class: BTreeMap<String, i64>,
}

impl Exposures {
    /// Counts an address, given its new breaches and the total number of its breaches.
    pub fn add(&mut self, new: &[&Breach], all: usize) {
        self.breached += 1;
        if new.is_empty() {
            return;
        }
        self.exposed += 1;
        self.first += i64::from(all == new.len());
        self.repeated += i64::from(all > 1);
        self.links += i64::try_from(new.len()).unwrap_or(i64::MAX);
        for breach in new {
            *self.by_breach.entry(breach.id).or_default() += 1;
        }
        let classes: BTreeSet<&str> =
            new.iter().flat_map(|breach| &breach.data_classes).map(String::as_str).collect();
        for class in classes {
            match self.by_class.get_mut(class) {
                Some(count) => *count += 1,
                None => drop(self.by_class.insert(class.to_owned(), 1)),
            }
        }
    }

    /// Returns the ids of the new breaches along with the number of addresses affected by each.
    pub fn breaches(&self) -> impl Iterator<Item = (u16, i64)> + '_ {
        self.by_breach.iter().map(|(id, count)| (*id, *count))
    }

    /// Returns the data classes in the new breaches along with the number of addresses affected by
    /// each, in descending order.
    pub fn classes(&self) -> Vec<(&str, i64)> {
        let mut classes: Vec<(&str, i64)> =
            self.by_class.iter().map(|(class, count)| (class.as_str(), *count)).collect();
        classes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        classes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::test_data;

    fn breach(id: u16, added: i64, classes: &[&str]) -> Breach {
        let data_classes = classes.iter().map(|class| (*class).to_owned()).collect();
        Breach { id, added, data_classes, ..test_data::fixtures().remove(0) }
    }

    #[test]
    fn period_begins_with_its_first_second_and_ends_before_its_last() {
        let period = Period { since: 100, until: 200 };
        let added = [99, 100, 199, 200].map(|added| period.contains(&breach(1, added, &[])));
        assert_eq!(added, [false, true, true, false]);
    }

    #[test]
    fn address_counts_once_for_each_breach_and_each_data_class() {
        let (one, two) = (breach(1, 0, &["Names", "Passwords"]), breach(2, 0, &["Names"]));
        let mut found = Exposures::default();
        found.add(&[&one, &two], 2);
        found.add(&[&two], 3);
        found.add(&[&two], 1);
        found.add(&[], 4);
        assert_eq!(
            (found.breached, found.exposed, found.first, found.repeated, found.links),
            (4, 3, 2, 2, 4)
        );
        assert_eq!(found.breaches().collect::<Vec<_>>(), [(1, 1), (2, 3)]);
        assert_eq!(found.classes(), [("Names", 3), ("Passwords", 1)]);
    }
}
