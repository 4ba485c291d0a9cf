//! Determines which breaches of a verified domain its controller may see under the plan.

use database::{DatabaseError, Db};

use super::admission::Caller;
use super::context::RequestContext;
use crate::error::Error;
use crate::model::domain_size::{self, Access, Situation};
use crate::store::domain_controls::{self, Control, LargerDomain};

/// The caller's domains that count toward the limit on large domains.
#[derive(Debug)]
pub struct LargerDomains(Vec<LargerDomain>);

impl LargerDomains {
    /// Reads the caller's large domains. Test keys don't have any.
    pub fn read(db: &mut Db, caller: &Caller) -> Result<Self, DatabaseError> {
        let larger = match caller.subscriber {
            Some(subscriber) => domain_controls::larger_domains(db, subscriber)?,
            None => Vec::new(),
        };
        Ok(Self(larger))
    }

    /// Returns the rank of a domain with `size` addresses among the caller's large domains.
    /// Inherited domains rank after older ones and after domains that were verified directly.
    pub fn up_to(&self, control: Option<&Control>, size: i64) -> i64 {
        let Some(control) = control else { return 0 };
        let counts = |other: &LargerDomain| {
            other.parent_id.is_none() || (control.parent_id.is_some() && other.id < control.id)
        };
        let others = self.0.iter().filter(|other| other.id != control.id && counts(other)).count();
        let own = usize::from(size > domain_size::FREE_SIZE);
        i64::try_from(others + own).unwrap_or(i64::MAX)
    }
}

/// Decides which breaches of a domain the caller may see. `size` is the number of addresses, not
/// counting those found only in spam lists.
pub fn decide(
    context: &RequestContext,
    caller: &Caller,
    control: Option<&Control>,
    size: i64,
    larger_domains: i64,
) -> Access {
    domain_size::decide(Situation {
        now: size,
        locked_in: control
            .filter(|_| caller.until > context.now)
            .and_then(|control| control.pwn_count_no_spam_at_renewal),
        max_size: i64::from(caller.plan.features.max_domain_size),
        larger_domains,
        max_domains: i64::from(caller.plan.features.max_domains),
    })
}

/// Explains to the caller why some or all breaches are withheld. `None` means full access.
pub fn refusal(caller: &Caller, access: Access, size: i64, larger_domains: i64) -> Option<Error> {
    let features = &caller.plan.features;
    match access {
        Access::Full => None,
        Access::TooManyDomains => {
            let (max, used) = (features.max_domains, larger_domains);
            Some(Error::TooManyDomains { max, used })
        }
        Access::SubscriptionFreeOnly => {
            Some(Error::DomainTooLarge { size, max: features.max_domain_size })
        }
    }
}
