//! Plans and the operations they include.

/// Plan family, which determines most of the included operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Searches by address and domain, and for pastes.
    Core,
    /// Everything.
    Pro,
    /// Searches by address at high rates, but no domains.
    HighRpm,
    /// Built-in plan for test keys.
    Test,
    /// No keyed operations at all.
    Free,
}

impl Family {
    /// Every family.
    pub const ALL: [Self; 5] = [Self::Core, Self::Pro, Self::HighRpm, Self::Test, Self::Free];

    /// Returns the name used in the database and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Pro => "pro",
            Self::HighRpm => "highrpm",
            Self::Test => "test",
            Self::Free => "free",
        }
    }

    /// Looks up a family by name.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|family| family.word() == word)
    }
}

/// Keyed operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// An address's breaches.
    BreachedAccount,
    /// Breaches of many addresses at verified domains.
    BreachedAccounts,
    /// Breaches of all addresses whose hash has a given prefix.
    BreachedAccountRange,
    /// Breaches of all addresses whose hash has one of several prefixes.
    BreachedAccountRanges,
    /// Issues the token that proves control of a domain by DNS.
    GenerateDnsToken,
    /// Checks that the domain publishes the token.
    VerifyDnsToken,
    /// Sends the email that proves control of a domain.
    SendEmail,
    /// Breached addresses at a domain.
    BreachedDomain,
    /// New exposures at a domain.
    DomainReport,
    /// The subscription's domains.
    SubscribedDomains,
    /// Websites where an address was captured.
    StealerLogsByEmail,
    /// Addresses captured at a website.
    StealerLogsByWebsiteDomain,
    /// Captured addresses at a domain.
    StealerLogsByEmailDomain,
    /// Pastes that contain an address.
    PasteAccount,
    /// The caller's subscription.
    SubscriptionStatus,
}

/// Quotas that operations are charged to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bucket {
    /// The plan's requests per minute.
    Search,
    /// Stealer log searches by domain.
    StealerDomain,
    /// Domain searches, counted per domain and catalogue version.
    DomainSearch,
    /// Managing the subscription and its domains.
    Management,
}

impl Operation {
    /// Returns the quota this operation is charged to.
    pub fn bucket(self) -> Bucket {
        match self {
            Self::BreachedAccount
            | Self::BreachedAccounts
            | Self::BreachedAccountRange
            | Self::BreachedAccountRanges
            | Self::StealerLogsByEmail
            | Self::PasteAccount => Bucket::Search,
            Self::StealerLogsByWebsiteDomain | Self::StealerLogsByEmailDomain => {
                Bucket::StealerDomain
            }
            Self::BreachedDomain | Self::DomainReport => Bucket::DomainSearch,
            Self::GenerateDnsToken
            | Self::VerifyDnsToken
            | Self::SendEmail
            | Self::SubscribedDomains
            | Self::SubscriptionStatus => Bucket::Management,
        }
    }

    /// Returns whether test keys can call this operation. Only a real subscriber can prove control
    /// of a domain.
    pub fn has_test_keys(self) -> bool {
        !matches!(self, Self::GenerateDnsToken | Self::VerifyDnsToken | Self::SendEmail)
    }

    /// Returns whether the only test key this operation accepts is the all-zero one, so that a
    /// mistyped key is reported as invalid.
    pub fn needs_zero_test_key(self) -> bool {
        matches!(self, Self::SubscribedDomains | Self::SubscriptionStatus)
    }
}

/// Means "no limit" as a maximum domain size.
pub const UNLIMITED: i32 = i32::MAX;

/// A plan and its features.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Unique code.
    pub code: String,
    /// Display name.
    pub name: String,
    /// Searches per minute. Also the burst size.
    pub per_minute: i32,
    /// Everything except the rate.
    pub features: Features,
}

/// Everything a plan includes besides its rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Features {
    /// Plan family.
    pub family: Family,
    /// Cost of a range request in searches. Defaults to `KANON_COST`.
    pub kanon_cost: Option<i32>,
    /// Size of the largest domain that can be searched.
    pub max_domain_size: i32,
    /// Maximum number of domains with more than ten breached addresses.
    pub max_domains: i32,
    /// Includes stealer log searches.
    pub stealer_logs: bool,
    /// Domains can be verified through the API.
    pub bulk_domain_add: bool,
    /// Subdomains of a verified domain are verified too.
    pub auto_subdomain: bool,
    /// May add the domains of customers.
    pub customer_domains: bool,
    /// Includes searches by hash prefix.
    pub kanon: bool,
    /// Includes bulk checks of addresses at verified domains.
    pub bulk_check: bool,
    /// One-sentence summary of the plan.
    pub description: String,
}

impl Features {
    /// Returns `true` if the plan includes the operation.
    pub fn include(&self, operation: Operation) -> bool {
        let core_or_pro = matches!(self.family, Family::Core | Family::Pro | Family::Test);
        match operation {
            Operation::BreachedAccount
            | Operation::PasteAccount
            | Operation::SubscriptionStatus => core_or_pro || self.family == Family::HighRpm,
            Operation::GenerateDnsToken | Operation::VerifyDnsToken | Operation::SendEmail => {
                self.family == Family::Pro && self.bulk_domain_add
            }
            Operation::BreachedAccountRange | Operation::BreachedAccountRanges => {
                self.family != Family::Free && self.kanon
            }
            Operation::BreachedAccounts => core_or_pro && self.bulk_check,
            Operation::BreachedDomain | Operation::DomainReport | Operation::SubscribedDomains => {
                core_or_pro
            }
            Operation::StealerLogsByEmail
            | Operation::StealerLogsByWebsiteDomain
            | Operation::StealerLogsByEmailDomain => core_or_pro && self.stealer_logs,
        }
    }
}

/// Returns the plans for a new database, in the order of the price list.
pub fn seed() -> Vec<Plan> {
    let mut plans = Vec::new();
    let core =
        [(10, 25, 1), (50, 100, 3), (100, 500, 5), (500, UNLIMITED, 10), (1000, UNLIMITED, 20)];
    for (level, (rpm, size, domains)) in (1..).zip(core) {
        plans.push(plan(Family::Core, "core", "Core", level, rpm, size, domains));
    }
    let pro = [(500, 50), (1000, 100), (2000, 200), (4000, 400), (8000, 800)];
    for (level, (rpm, domains)) in (1..).zip(pro) {
        plans.push(plan(Family::Pro, "pro", "Pro", level, rpm, UNLIMITED, domains));
    }
    for rpm in [4000, 8000, 12000] {
        plans.push(plan(Family::HighRpm, "highrpm", "High RPM", rpm, rpm, 0, 0));
    }
    plans.push(test());
    plans.push(free());
    plans
}

fn plan(
    family: Family,
    code: &str,
    name: &str,
    level: i32,
    rpm: i32,
    size: i32,
    domains: i32,
) -> Plan {
    let pro = family == Family::Pro;
    let plural = if domains == 1 { "" } else { "s" };
    let description = match family {
        Family::HighRpm => {
            format!("Covers {rpm} email searches per minute, by address or by hash prefix.")
        }
        Family::Pro => format!(
            "Covers {domains} domains of any size, {rpm} email searches per minute, searches by hash prefix and stealer logs."
        ),
        _ if size == UNLIMITED => {
            format!("Covers {domains} domains of any size and {rpm} email searches per minute.")
        }
        _ => format!(
            "Covers {domains} domain{plural} with up to {size} breached addresses and {rpm} email searches per minute."
        ),
    };
    Plan {
        code: format!("{code}{level}"),
        name: format!("{name} {level}"),
        per_minute: rpm,
        features: Features {
            family,
            kanon_cost: None,
            max_domain_size: size,
            max_domains: domains,
            stealer_logs: pro,
            bulk_domain_add: pro,
            auto_subdomain: pro,
            customer_domains: pro,
            kanon: pro || family == Family::HighRpm,
            bulk_check: pro,
            description,
        },
    }
}

/// Returns the plan for test keys.
pub fn test() -> Plan {
    let mut plan = plan(Family::Test, "test", "Test", 0, 60, UNLIMITED, 1);
    plan.code = "test".into();
    plan.name = "Test".into();
    plan.features.stealer_logs = true;
    plan.features.kanon = true;
    plan.features.bulk_check = true;
    plan.features.description = "Covers the test accounts only.".into();
    plan
}

/// Returns the plan for people without a subscription.
pub fn free() -> Plan {
    let mut plan = plan(Family::Free, "free", "Free", 0, 1, 10, 1);
    plan.code = "free".into();
    plan.name = "Free".into();
    plan.features.description =
        "Covers 1 domain with up to 10 breached addresses, without a key.".into();
    plan
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn core_1_has_the_specified_description() {
        let plan = seed().remove(0);
        assert_eq!((plan.code.as_str(), plan.name.as_str()), ("core1", "Core 1"));
        assert_eq!(
            plan.features.description,
            "Covers 1 domain with up to 25 breached addresses and 10 email searches per minute."
        );
    }

    #[test]
    fn each_plan_includes_exactly_its_operations() {
        use Operation::*;
        let addresses = [BreachedAccount, PasteAccount, SubscriptionStatus].as_slice();
        let domains = [BreachedDomain, DomainReport, SubscribedDomains].as_slice();
        let range = [BreachedAccountRange, BreachedAccountRanges].as_slice();
        let stealer_logs =
            [StealerLogsByEmail, StealerLogsByWebsiteDomain, StealerLogsByEmailDomain].as_slice();
        let verification = [GenerateDnsToken, VerifyDnsToken, SendEmail].as_slice();
        let bulk = [BreachedAccounts].as_slice();
        let all = [addresses, domains, range, stealer_logs, verification, bulk].concat();
        for plan in seed() {
            let expected = match plan.features.family {
                Family::Core => [addresses, domains].concat(),
                Family::Pro => all.clone(),
                Family::HighRpm => [addresses, range].concat(),
                Family::Test => continue,
                Family::Free => Vec::new(),
            };
            for operation in &all {
                let included = plan.features.include(*operation);
                let code = &plan.code;
                assert_eq!(included, expected.contains(operation), "{code}: {operation:?}");
            }
        }
    }
}
