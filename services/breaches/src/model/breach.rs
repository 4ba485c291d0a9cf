//! Breaches and who can see them.

use super::instant;

/// Breach flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Confirmed to be authentic.
    pub verified: bool,
    /// Believed to be made up.
    pub fabricated: bool,
    /// Not shown in searches by address.
    pub sensitive: bool,
    /// The data has been removed.
    pub retired: bool,
    /// A spam list rather than a compromised site.
    pub spam_list: bool,
    /// The data was collected by malware.
    pub malware: bool,
    /// Shown in domain searches even if the domain is too large for the plan.
    pub subscription_free: bool,
    /// Comes from stealer logs, which include the website of each login.
    pub stealer_log: bool,
}

/// A breach in the catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// Id used in packed lists, from 1 to 65535.
    pub id: u16,
    /// Stable name that clients use.
    pub name: String,
    /// Display title.
    pub title: String,
    /// Domain of the breached site. May be empty.
    pub domain: String,
    /// Date of the breach as `YYYY-MM-DD`.
    pub breach_date: String,
    /// When it was added to the catalogue, in Unix seconds.
    pub added: i64,
    /// When it was last modified, in Unix seconds.
    pub modified: i64,
    /// Number of addresses as published.
    pub pwn_count: i64,
    /// Number of accounts actually linked.
    pub loaded_count: i64,
    /// HTML description.
    pub description: String,
    /// Absolute URL of a PNG logo.
    pub logo_path: String,
    /// Attribution requested by the source of the data.
    pub attribution: Option<String>,
    /// Link to the breached party's disclosure.
    pub disclosure_url: Option<String>,
    /// Names of the leaked data classes in case-insensitive order.
    pub data_classes: Vec<String>,
    /// Flags such as `fabricated` and `retired`.
    pub flags: Flags,
    /// Inactive breaches are visible only to the operator.
    pub active: bool,
}

impl Breach {
    /// Returns whether searches by address or hash prefix include this breach.
    pub fn shown_for_address(&self) -> bool {
        self.shown_for_domain() && !self.flags.sensitive
    }

    /// Returns whether searches of a domain by its controllers include this breach. The same rule
    /// applies to stealer log entries.
    pub fn shown_for_domain(&self) -> bool {
        self.active && !self.flags.retired
    }

    /// Returns whether these searches include this breach even if the domain is too large for the
    /// plan.
    pub fn shown_without_subscription(&self) -> bool {
        self.shown_for_domain() && self.flags.subscription_free
    }

    /// Activates the breach. Unless `keep_dates` is set, its dates are reset to the current minute
    /// so that polling clients notice it.
    pub fn activate(&mut self, keep_dates: bool, now: i64) {
        self.active = true;
        if !keep_dates {
            let minute = instant::whole_minute(now);
            (self.added, self.modified) = (minute, minute);
        }
    }

    /// Lists the attributes that differ. An older `ModifiedDate` doesn't count as a difference, since
    /// ours may come from an earlier import of the very same entry.
    pub fn differences(&self, new: &Self) -> Vec<&'static str> {
        let mut found = Vec::new();
        let mut compare = |name, differs: bool| {
            if differs {
                found.push(name);
            }
        };
        compare("Title", self.title != new.title);
        compare("Domain", self.domain != new.domain);
        compare("BreachDate", self.breach_date != new.breach_date);
        compare("AddedDate", self.added != new.added);
        compare("ModifiedDate", self.modified < new.modified);
        compare("PwnCount", self.pwn_count != new.pwn_count);
        compare("Description", self.description != new.description);
        compare("LogoPath", self.logo_path != new.logo_path);
        compare("Attribution", self.attribution != new.attribution);
        compare("DisclosureUrl", self.disclosure_url != new.disclosure_url);
        compare("DataClasses", self.data_classes != new.data_classes);
        compare("IsVerified", self.flags.verified != new.flags.verified);
        compare("IsFabricated", self.flags.fabricated != new.flags.fabricated);
        compare("IsSensitive", self.flags.sensitive != new.flags.sensitive);
        compare("IsRetired", self.flags.retired != new.flags.retired);
        compare("IsSpamList", self.flags.spam_list != new.flags.spam_list);
        compare("IsMalware", self.flags.malware != new.flags.malware);
        compare("IsSubscriptionFree", self.flags.subscription_free != new.flags.subscription_free);
        compare("IsStealerLog", self.flags.stealer_log != new.flags.stealer_log);
        found
    }

    /// Returns whether the breach is listed in the catalogue.
    pub fn listed(&self) -> bool {
        self.active
    }
}
