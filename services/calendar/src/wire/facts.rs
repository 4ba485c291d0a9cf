//! What reading a request needs to know of the stored data.

use crate::model::linked::Kind;
use crate::model::term::Taxonomy;

/// Answers whether what a parameter names exists.
pub trait Facts {
    /// Tells whether a user exists.
    fn user(&mut self, id: i64) -> bool;
    /// Tells whether an event exists.
    fn event(&mut self, id: i64) -> bool;
    /// Tells whether an image exists.
    fn image(&mut self, id: i64) -> bool;
    /// Tells whether a venue or an organizer exists.
    fn linked(&mut self, kind: Kind, id: i64) -> bool;
    /// Tells whether a term exists.
    fn term(&mut self, taxonomy: Taxonomy, id: i64) -> bool;
    /// Finds a term by its slug.
    fn term_by_slug(&mut self, taxonomy: Taxonomy, slug: &str) -> Option<i64>;
}
