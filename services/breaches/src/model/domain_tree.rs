//! Determines which domains a subscriber inherits from a verified parent.

use std::collections::HashMap;
use std::iter::successors;

/// Facts about a subscriber's domain that determine inheritance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holding {
    /// Domain control id.
    pub id: i64,
    /// Control was proven for this domain itself.
    pub proved: bool,
    /// The subscriber removed the domain, so neither it nor its subdomains may be inherited.
    pub detached: bool,
}

/// A subscriber's domains by name.
#[derive(Clone, Debug, Default)]
pub struct DomainTree(HashMap<String, Holding>);

impl DomainTree {
    /// Builds a tree from (name, domain) pairs.
    pub fn new(domains: impl IntoIterator<Item = (String, Holding)>) -> Self {
        Self(domains.into_iter().collect())
    }

    /// Adds or replaces a domain.
    pub fn set(&mut self, name: &str, holding: Holding) {
        self.0.insert(name.to_owned(), holding);
    }

    /// Removes a domain.
    pub fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }

    /// Returns the id of the closest verified parent, or `None` if there isn't one or if the
    /// subscriber removed this domain or one in between.
    pub fn root_of(&self, name: &str) -> Option<i64> {
        if self.0.get(name).is_some_and(|own| own.detached) {
            return None;
        }
        let mut held = above(name).filter_map(|above| self.0.get(above));
        held.find(|above| above.proved || above.detached).filter(|found| found.proved).map(|r| r.id)
    }

    /// Returns `true` if any parent is verified, even with removed domains in between.
    pub fn has_root(&self, name: &str) -> bool {
        above(name).any(|above| self.0.get(above).is_some_and(|above| above.proved))
    }
}

/// Returns a domain's parents, closest first.
fn above(name: &str) -> impl Iterator<Item = &str> {
    successors(Some(name), |name| name.split_once('.').map(|(_, above)| above)).skip(1)
}

/// Returns `true` if `name` is a subdomain of `domain`.
pub fn is_below(name: &str, domain: &str) -> bool {
    name.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROVED: Holding = Holding { id: 1, proved: true, detached: false };
    const INHERITED: Holding = Holding { id: 2, proved: false, detached: false };
    const REMOVED: Holding = Holding { id: 3, proved: false, detached: true };

    fn tree(domains: &[(&str, Holding)]) -> DomainTree {
        DomainTree::new(domains.iter().map(|(name, held)| ((*name).to_owned(), *held)))
    }

    #[test]
    fn domain_is_inherited_from_its_nearest_verified_parent() {
        let near = Holding { id: 7, ..PROVED };
        let tree = tree(&[("corp.example", PROVED), ("a.corp.example", near)]);
        assert_eq!(tree.root_of("c.b.a.corp.example"), Some(7));
        assert_eq!(tree.root_of("a.corp.example"), Some(1));
        assert_eq!(tree.root_of("b.corp.example"), Some(1));
        for other in ["corp.example", "notcorp.example", "example", "corp.example.org"] {
            assert_eq!(tree.root_of(other), None, "{other}");
        }
    }

    #[test]
    fn inherited_domain_passes_no_verification_on() {
        assert_eq!(tree(&[("a.corp.example", INHERITED)]).root_of("b.a.corp.example"), None);
    }

    #[test]
    fn removed_domain_stops_inheritance_below_it() {
        let mut tree = tree(&[("corp.example", PROVED), ("a.corp.example", REMOVED)]);
        assert_eq!(tree.root_of("a.corp.example"), None);
        assert_eq!(tree.root_of("b.a.corp.example"), None);
        assert!(tree.has_root("b.a.corp.example"));
        assert_eq!(tree.root_of("aa.corp.example"), Some(1));
        // Once it is verified again, its subdomains are inherited again.
        tree.set("a.corp.example", Holding { proved: true, ..REMOVED });
        assert_eq!(tree.root_of("b.a.corp.example"), Some(3));
        tree.remove("a.corp.example");
        assert_eq!(tree.root_of("b.a.corp.example"), Some(1));
    }

    #[test]
    fn subdomains_end_at_a_dot() {
        assert!(is_below("a.corp.example", "corp.example"));
        assert!(!is_below("acorp.example", "corp.example"));
        assert!(!is_below("corp.example", "corp.example"));
    }
}
