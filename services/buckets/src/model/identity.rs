//! Detects when a database and an index don't match.

use serde::{Deserialize, Serialize};

/// Identity of an index, along with a count of its publishes and removals. It is stored in both the
/// index and the database.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// A random name for the index, shared by all its generations.
    pub index: String,
    /// Number of publishes and removals so far.
    pub publishes: u64,
}

impl Identity {
    /// Returns the identity after one additional publish or removal.
    pub fn advanced(&self) -> Self {
        Self { index: self.index.clone(), publishes: self.publishes + 1 }
    }

    /// Compares this database identity with an index identity and explains how they differ. Returns
    /// `None` if they match.
    ///
    /// A process might have been killed between the two commits of a publish or removal.
    /// `unsettled` means that the database knows about the index's last run or removal but hasn't
    /// marked it as published or completed yet.
    pub fn mismatch(&self, index: &Self, unsettled: bool) -> Option<String> {
        let numbers = || {
            format!(
                "the database has seen {} publishes and removals, the index {}",
                self.publishes, index.publishes
            )
        };
        if index.index.is_empty() {
            return (self.publishes > 0).then(|| format!("the index is empty: {}", numbers()));
        }
        if self.index != index.index {
            return Some("the database belongs to another index".to_owned());
        }
        if self.publishes > index.publishes {
            return Some(format!("the index is older than the database: {}", numbers()));
        }
        let ahead = index.publishes - self.publishes;
        let known = ahead == 0 || (ahead == 1 && unsettled);
        (!known).then(|| format!("the database is older than the index: {}", numbers()))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(("", 0), ("", 0), false, None)]
    #[case(("a", 0), ("", 0), false, None)]
    #[case(("a", 0), ("a", 0), false, None)]
    #[case(("a", 3), ("a", 3), false, None)]
    #[case(("a", 2), ("a", 3), true, None)]
    #[case(("a", 2), ("a", 3), false, Some("the database is older than the index"))]
    #[case(("a", 1), ("a", 3), true, Some("the database is older than the index"))]
    #[case(("a", 3), ("a", 2), false, Some("the index is older than the database"))]
    #[case(("a", 3), ("", 0), false, Some("the index is empty"))]
    #[case(("a", 1), ("a", 0), false, Some("the index is older than the database"))]
    #[case(("", 0), ("a", 0), false, Some("the database belongs to another index"))]
    #[case(("b", 3), ("a", 3), false, Some("the database belongs to another index"))]
    #[case(("", 0), ("a", 3), false, Some("the database belongs to another index"))]
    fn mismatches_of_database_and_index_are_detected(
        #[case] database: (&str, u64),
        #[case] index: (&str, u64),
        #[case] unsettled: bool,
        #[case] expected: Option<&str>,
    ) {
        let identity =
            |(index, publishes): (&str, u64)| Identity { index: index.to_owned(), publishes };
        let found = identity(database).mismatch(&identity(index), unsettled);
        assert_eq!(found.as_deref().map(|text| text.split(':').next().unwrap()), expected);
    }
}
