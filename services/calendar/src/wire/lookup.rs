//! Look-ups of stored data during decoding.

use std::collections::{HashMap, HashSet};

use crate::model::linked::Kind;
use crate::model::term::Taxonomy;

/// Answers whether resources in parameters exist.
pub trait Lookup {
    /// Returns whether a user exists.
    fn user(&mut self, id: i64) -> bool;
    /// Returns whether an event exists.
    fn event(&mut self, id: i64) -> bool;
    /// Returns whether an image exists.
    fn image(&mut self, id: i64) -> bool;
    /// Returns which of the ids belong to venues or organizers.
    fn linked(&mut self, kind: Kind, ids: &[i64]) -> HashSet<i64>;
    /// Returns whether a term exists.
    fn term(&mut self, taxonomy: Taxonomy, id: i64) -> bool;
    /// Returns which of the ids belong to terms.
    fn terms(&mut self, taxonomy: Taxonomy, ids: &[i64]) -> HashSet<i64>;
    /// Finds terms by their slugs.
    fn terms_by_slug(&mut self, taxonomy: Taxonomy, slugs: &[String]) -> HashMap<String, i64>;
}
