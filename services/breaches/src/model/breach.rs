//! A breach of the catalogue and who may see it.

use super::instant;

/// What is said of a breach as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Its authenticity was confirmed.
    pub verified: bool,
    /// It is considered made up.
    pub fabricated: bool,
    /// Searches by address must not return it.
    pub sensitive: bool,
    /// Its data were removed.
    pub retired: bool,
    /// It is a list of addresses for spam, not a compromise.
    pub spam_list: bool,
    /// Its data come from malware.
    pub malware: bool,
    /// Domain searches show it even when the domain is too large for the plan.
    pub subscription_free: bool,
    /// Its data come from stealer logs, with the website of each login.
    pub stealer_log: bool,
}

/// A breach of the catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// Number in the packed lists, 1 to 65535.
    pub id: u16,
    /// Stable key.
    pub name: String,
    /// Title for people.
    pub title: String,
    /// Domain of the breached site, or empty.
    pub domain: String,
    /// `YYYY-MM-DD`.
    pub breach_date: String,
    /// When it was added, Unix seconds.
    pub added: i64,
    /// When it was last changed, Unix seconds.
    pub modified: i64,
    /// Number of addresses as published.
    pub pwn_count: i64,
    /// Number of accounts linked to it here.
    pub loaded_count: i64,
    /// HTML.
    pub description: String,
    /// Absolute URL of a PNG.
    pub logo_path: String,
    /// Attribution that the provider of the data asked for.
    pub attribution: Option<String>,
    /// Where the breached party disclosed it.
    pub disclosure_url: Option<String>,
    /// Sorted ignoring case.
    pub data_classes: Vec<String>,
    /// What is said of it.
    pub flags: Flags,
    /// Inactive breaches exist for the operator alone.
    pub active: bool,
}

impl Breach {
    /// Whether searches by address and by prefix return it.
    pub fn shown_for_address(&self) -> bool {
        self.shown_for_domain() && !self.flags.sensitive
    }

    /// Whether searches by the controller of a domain return it; stealer pairs follow the same rule.
    pub fn shown_for_domain(&self) -> bool {
        self.active && !self.flags.retired
    }

    /// Activates it; its dates become now, so that pollers see it, unless they are kept.
    pub fn activate(&mut self, keep_dates: bool, now: i64) {
        self.active = true;
        if !keep_dates {
            let minute = instant::whole_minute(now);
            (self.added, self.modified) = (minute, minute);
        }
    }

    /// Whether the catalogue lists it.
    pub fn listed(&self) -> bool {
        self.active
    }
}
