//! What answers are rendered from, beside the resource itself.

use std::collections::HashMap;

use super::addresses::Addresses;
use crate::model::cost::Currency;
use crate::model::event::Links;
use crate::model::image::Image;
use crate::model::linked::Linked;
use crate::model::term::Term;
use crate::model::zone::Zone;

/// The site as answers show it.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    pub addresses: &'a Addresses,
    pub zone: &'a Zone,
    pub currency: &'a Currency,
}

/// Everything that a page of resources refers to, by id; only what the caller may see.
#[derive(Clone, Debug, Default)]
pub struct Bundle {
    pub links: HashMap<i64, Links>,
    /// Terms with all their ancestors.
    pub terms: HashMap<i64, Term>,
    pub venues: HashMap<i64, Linked>,
    pub organizers: HashMap<i64, Linked>,
    pub images: HashMap<i64, Image>,
}

impl Bundle {
    /// Returns the slugs from the root down to a term.
    pub fn path<'a>(&'a self, term: &'a Term) -> Vec<&'a str> {
        let mut path = vec![term.slug.as_str()];
        let mut parent = term.parent;
        // A loop of parents cannot be stored; the bound keeps a damaged database from hanging us.
        while let Some(above) = self.terms.get(&parent).filter(|_| path.len() < 100) {
            path.push(above.slug.as_str());
            parent = above.parent;
        }
        path.reverse();
        path
    }
}
