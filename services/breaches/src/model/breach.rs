//! A breach of the catalogue and its visibility.

use super::instant;

/// Flags of a breach.
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
    /// Domain searches show it even if the domain is too large for the plan.
    pub subscription_free: bool,
    /// Its data come from stealer logs, with the website of each login.
    pub stealer_log: bool,
}

/// A breach of the catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// Id in the packed lists, 1 to 65535.
    pub id: u16,
    /// Stable key.
    pub name: String,
    /// Displayed title.
    pub title: String,
    /// Domain of the breached site, or empty.
    pub domain: String,
    /// `YYYY-MM-DD`.
    pub breach_date: String,
    /// When it was added, in Unix seconds.
    pub added: i64,
    /// When it was last changed, in Unix seconds.
    pub modified: i64,
    /// Published number of addresses.
    pub pwn_count: i64,
    /// Number of linked accounts.
    pub loaded_count: i64,
    /// HTML.
    pub description: String,
    /// Absolute URL of a PNG.
    pub logo_path: String,
    /// Attribution requested by the provider of the data.
    pub attribution: Option<String>,
    /// URL of the disclosure by the breached party.
    pub disclosure_url: Option<String>,
    /// Sorted ignoring case.
    pub data_classes: Vec<String>,
    /// Its flags.
    pub flags: Flags,
    /// False for breaches that only the operator sees.
    pub active: bool,
}

impl Breach {
    /// Returns whether searches by address and by prefix show it.
    pub fn shown_for_address(&self) -> bool {
        self.shown_for_domain() && !self.flags.sensitive
    }

    /// Returns whether searches by the controller of a domain show it. Stealer-log pairs follow the
    /// same rule.
    pub fn shown_for_domain(&self) -> bool {
        self.active && !self.flags.retired
    }

    /// Returns whether the controller of a domain that is larger than the plan covers sees it.
    pub fn shown_without_subscription(&self) -> bool {
        self.shown_for_domain() && self.flags.subscription_free
    }

    /// Activates it. Its dates become the current minute, so pollers notice it, unless they are
    /// kept.
    pub fn activate(&mut self, keep_dates: bool, now: i64) {
        self.active = true;
        if !keep_dates {
            let minute = instant::whole_minute(now);
            (self.added, self.modified) = (minute, minute);
        }
    }

    /// Returns whether the catalogue lists it.
    pub fn listed(&self) -> bool {
        self.active
    }
}
