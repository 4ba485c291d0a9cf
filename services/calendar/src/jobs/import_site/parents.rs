//! Sets the parents of categories.

use std::collections::{BTreeMap, HashSet};

use database::Db;
use serde_json::Value;

use super::items::{ItemKind, parent_of};
use crate::app;
use crate::error::Error;
use crate::model::term::Taxonomy;
use crate::store::{site_items, terms};

/// A term that has been written but whose parent still has to be set.
pub struct Parent {
    pub taxonomy: Taxonomy,
    /// The term's id on the remote site.
    id: i64,
    /// The parent's id on the remote site.
    parent: Option<i64>,
    /// The term's digest. It is recorded once the parent has been set.
    digest: String,
}

impl Parent {
    /// Returns the term if its parent still has to be set. Returns `None` for items that aren't
    /// terms, and for new terms without a parent.
    pub fn of(
        kind: ItemKind,
        item: &Value,
        is_known: bool,
        (id, digest): (i64, &str),
    ) -> Option<Parent> {
        let ItemKind::Term(taxonomy) = kind else { return None };
        let parent = parent_of(item);
        let digest = digest.to_owned();
        (parent.is_some() || is_known).then_some(Parent { taxonomy, id, parent, digest })
    }

    /// Sets the parent and records the term's digest. `seen` contains the ids of all items in the
    /// list.
    pub fn set(&self, db: &mut Db, source: &str, seen: &HashSet<i64>) -> Result<(), Error> {
        let Some(known) = site_items::find(db, source, self.id)? else { return Ok(()) };
        let parent = match self.parent {
            Some(parent) => site_items::find(db, source, parent)?.map(|one| one.our_id),
            None => Some(0),
        };
        match parent {
            // The parent was erased here.
            Some(0) if self.parent.is_some() => {}
            Some(parent) => app::set_term_parent(db, self.taxonomy, known.our_id, parent)?,
            // The parent could not be written. The next run retries both.
            None if self.parent.is_some_and(|parent| seen.contains(&parent)) => return Ok(()),
            None => {}
        }
        Ok(site_items::note(db, source, self.id, (known.our_id, &self.digest))?)
    }
}

/// Returns our id for a term's parent, or `None` if it has no parent or the parent doesn't exist
/// here.
pub fn known(
    db: &mut Db,
    taxonomy: Taxonomy,
    (source, item): (&str, &Value),
) -> Result<Option<i64>, Error> {
    let Some(parent) = parent_of(item) else { return Ok(None) };
    let Some(known) = site_items::find(db, source, parent)? else { return Ok(None) };
    Ok(terms::find(db, taxonomy, known.our_id)?.map(|term| term.id))
}

/// Sorts terms so that each one follows its parent. Terms whose ancestors form a loop come last.
pub fn parents_first(terms: Vec<(i64, Value)>) -> Vec<(i64, Value)> {
    let ids: HashSet<i64> = terms.iter().map(|(id, _)| *id).collect();
    let mut ordered = Vec::new();
    let mut below: BTreeMap<i64, Vec<(i64, Value)>> = BTreeMap::new();
    for term in terms {
        match parent_of(&term.1).filter(|parent| ids.contains(parent)) {
            Some(parent) => below.entry(parent).or_default().push(term),
            None => ordered.push(term),
        }
    }
    let mut next = 0;
    while let Some((id, _)) = ordered.get(next) {
        let children = below.remove(id);
        ordered.extend(children.into_iter().flatten());
        next += 1;
    }
    ordered.extend(below.into_values().flatten());
    ordered
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn terms_follow_their_parents_and_loops_come_last() {
        let terms = [(9, 8), (1, 2), (2, 1), (8, 7), (5, 3), (7, 3), (6, 8)];
        let terms = terms.map(|(id, parent)| (id, json!({"id": id, "parent": parent})));
        let ordered: Vec<i64> =
            parents_first(Vec::from(terms)).into_iter().map(|(id, _)| id).collect();
        assert_eq!(ordered, [5, 7, 8, 9, 6, 2, 1]);
    }
}
