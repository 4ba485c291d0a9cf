//! Whether a subscription covers the search of a domain.

use super::breach::Breach;
use super::catalogue::Catalogue;

/// How many addresses of a domain are breached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Breached addresses.
    pub all: i64,
    /// The same without those in spam lists only.
    pub no_spam: i64,
}

impl Counted {
    /// Counts one more account by its packed list.
    pub fn add(&mut self, catalogue: &Catalogue, list: &[u8]) {
        let not_spam = |breach: &Breach| breach.shown_for_domain() && !breach.flags.spam_list;
        self.all += i64::from(catalogue.any(list, Breach::shown_for_domain));
        self.no_spam += i64::from(catalogue.any(list, not_spam));
    }
}

/// Domains up to this size need no larger plan and never count.
pub const FREE_SIZE: i64 = 10;

/// What is known when a domain is searched; all counts leave out addresses in spam lists only.
#[derive(Clone, Copy, Debug)]
pub struct Situation {
    /// Breached addresses now.
    pub now: i64,
    /// Breached addresses when the running subscription began.
    pub locked_in: Option<i64>,
    /// Largest domain of the plan.
    pub max_size: i64,
    /// Verified domains of the subscriber with more than [`FREE_SIZE`] addresses.
    pub larger_domains: i64,
    /// How many of these the plan allows.
    pub max_domains: i64,
}

/// How a domain may be searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Everything.
    Full,
    /// Only breaches that need no subscription.
    SubscriptionFreeOnly,
    /// Not at all: too many domains that need one.
    TooManyDomains,
}

/// Decides on a search; the locked-in count lets a domain grow within a subscription period.
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
    fn ten_addresses_need_no_plan() {
        let tiny = Situation { now: 10, max_size: 0, max_domains: 0, ..CORE_1 };
        assert_eq!(decide(tiny), Access::Full);
    }

    #[test]
    fn a_domain_may_grow_within_the_period_but_not_beyond() {
        let grown = Situation { now: 26, ..CORE_1 };
        assert_eq!(decide(grown), Access::SubscriptionFreeOnly);
        assert_eq!(decide(Situation { locked_in: Some(25), ..grown }), Access::Full);
    }

    #[test]
    fn every_rule_at_its_boundary() {
        const MOST: i64 = i32::MAX as i64;
        let full = Access::Full;
        let (free, many) = (Access::SubscriptionFreeOnly, Access::TooManyDomains);
        for (now, locked_in, max_size, larger_domains, max_domains, expected) in [
            // Ten addresses are free, whatever the plan and the number of other domains.
            (0, None, 0, 9, 0, full),
            (10, None, 0, 9, 0, full),
            (11, None, 0, 0, 0, free),
            // The size that a plan covers.
            (25, None, 25, 1, 1, full),
            (26, None, 25, 1, 1, free),
            (26, None, 100, 1, 1, full),
            (MOST, None, MOST, 1, 1, full),
            // The smaller one of what it was at the renewal and of what it is counts.
            (40, Some(25), 25, 1, 1, full),
            (40, Some(26), 25, 1, 1, free),
            (25, Some(40), 25, 1, 1, full),
            (40, Some(10), 0, 9, 0, full),
            (40, Some(0), 0, 9, 0, full),
            // Domains beyond the number that a plan covers; size is judged first.
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
    fn more_larger_domains_than_allowed_are_refused() {
        assert_eq!(decide(CORE_1), Access::Full);
        assert_eq!(decide(Situation { larger_domains: 2, ..CORE_1 }), Access::TooManyDomains);
    }
}
