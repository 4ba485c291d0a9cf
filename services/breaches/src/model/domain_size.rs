//! Decides whether a plan covers a domain search.

use super::breach::Breach;
use super::catalogue::Catalogue;

/// Number of breached addresses at a domain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Including those found only in spam lists.
    pub all: i64,
    /// Excluding those found only in spam lists.
    pub no_spam: i64,
}

impl Counted {
    /// Counts an account with this packed list of breaches.
    pub fn add(&mut self, catalogue: &Catalogue, list: &[u8]) {
        let not_spam = |breach: &Breach| breach.shown_for_domain() && !breach.flags.spam_list;
        self.all += i64::from(catalogue.any(list, Breach::shown_for_domain));
        self.no_spam += i64::from(catalogue.any(list, not_spam));
    }
}

/// Domains up to this size are free and don't count toward the limit on large domains.
pub const FREE_SIZE: i64 = 10;

/// Facts that determine the decision. Addresses found only in spam lists are never counted.
#[derive(Clone, Copy, Debug)]
pub struct Situation {
    /// Number of breached addresses now.
    pub now: i64,
    /// Number of breached addresses when the current subscription period started.
    pub locked_in: Option<i64>,
    /// Largest domain size the plan covers.
    pub max_size: i64,
    /// Number of the subscriber's verified domains with more than [`FREE_SIZE`] addresses.
    pub larger_domains: i64,
    /// Maximum number of such domains the plan covers.
    pub max_domains: i64,
}

/// The breaches of a domain that the subscriber is allowed to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// All breaches.
    Full,
    /// Only breaches that don't need a subscription.
    SubscriptionFreeOnly,
    /// Nothing. The subscriber has too many large domains.
    TooManyDomains,
}

/// Decides which breaches may be searched. Because of the locked-in count, a domain can grow during
/// a subscription period without outgrowing the plan.
pub fn decide(situation: Situation) -> Access {
    let effective = situation.locked_in.map_or(situation.now, |locked| locked.min(situation.now));
    if effective <= FREE_SIZE {
        Access::Full
    } else if effective > situation.max_size {
        Access::SubscriptionFreeOnly
    } else if situation.larger_domains > situation.max_domains {
        Access::TooManyDomains
    } else {
        Access::Full
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORE_1: Situation =
        Situation { now: 11, locked_in: None, max_size: 25, larger_domains: 1, max_domains: 1 };

    #[test]
    fn domain_with_ten_addresses_needs_no_plan() {
        let tiny = Situation { now: 10, max_size: 0, max_domains: 0, ..CORE_1 };
        assert_eq!(decide(tiny), Access::Full);
    }

    #[test]
    fn locked_in_count_allows_growth_during_the_period() {
        let grown = Situation { now: 26, ..CORE_1 };
        assert_eq!(decide(grown), Access::SubscriptionFreeOnly);
        assert_eq!(decide(Situation { locked_in: Some(25), ..grown }), Access::Full);
    }

    #[test]
    fn every_rule_holds_at_its_boundary() {
        const MAX: i64 = i32::MAX as i64;
        let full = Access::Full;
        let (free, many) = (Access::SubscriptionFreeOnly, Access::TooManyDomains);
        for (now, locked_in, max_size, larger_domains, max_domains, expected) in [
            // Ten addresses are always free.
            (0, None, 0, 9, 0, full),
            (10, None, 0, 9, 0, full),
            (11, None, 0, 0, 0, free),
            // Maximum domain size.
            (25, None, 25, 1, 1, full),
            (26, None, 25, 1, 1, free),
            (26, None, 100, 1, 1, full),
            (MAX, None, MAX, 1, 1, full),
            // The lower of the current and locked-in counts applies.
            (40, Some(25), 25, 1, 1, full),
            (40, Some(26), 25, 1, 1, free),
            (25, Some(40), 25, 1, 1, full),
            (40, Some(10), 0, 9, 0, full),
            (40, Some(0), 0, 9, 0, full),
            // Maximum number of large domains. Checked after the size.
            (11, None, 25, 3, 3, full),
            (11, None, 25, 4, 3, many),
            (11, None, 25, 1, 0, many),
            (26, None, 25, 4, 3, free),
            (40, Some(25), 25, 4, 3, many),
        ] {
            let situation = Situation { now, locked_in, max_size, larger_domains, max_domains };
            assert_eq!(decide(situation), expected, "{situation:?}");
        }
    }

    #[test]
    fn too_many_larger_domains_are_refused() {
        assert_eq!(decide(CORE_1), Access::Full);
        assert_eq!(decide(Situation { larger_domains: 2, ..CORE_1 }), Access::TooManyDomains);
    }
}
