//! A breach in the catalogue, and its visibility.

use super::instant;

/// Flags of a breach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Its authenticity was confirmed.
    pub verified: bool,
    /// The breach is considered fabricated.
    pub fabricated: bool,
    /// Searches by address must not return the breach.
    pub sensitive: bool,
    /// The data of the breach were removed.
    pub retired: bool,
    /// The breach is a list of addresses for spam rather than a compromise.
    pub spam_list: bool,
    /// Its data come from malware.
    pub malware: bool,
    /// Domain searches show the breach even if the domain is too large for the plan.
    pub subscription_free: bool,
    /// The data comes from stealer logs and contains the website of each login.
    pub stealer_log: bool,
}

/// A breach of the catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// The id in packed lists, from 1 to 65535.
    pub id: u16,
    /// Stable key by which clients refer to the breach.
    pub name: String,
    /// Title, as displayed.
    pub title: String,
    /// Domain of the breached site; may be empty.
    pub domain: String,
    /// When the breach occurred, as `YYYY-MM-DD`.
    pub breach_date: String,
    /// When the breach was added, in Unix seconds.
    pub added: i64,
    /// When the breach was last changed, in Unix seconds.
    pub modified: i64,
    /// Published number of addresses.
    pub pwn_count: i64,
    /// Number of linked accounts.
    pub loaded_count: i64,
    /// Description, as HTML.
    pub description: String,
    /// Absolute URL of a PNG.
    pub logo_path: String,
    /// Attribution requested by the provider of the data.
    pub attribution: Option<String>,
    /// URL of the disclosure by the breached party.
    pub disclosure_url: Option<String>,
    /// Names of the leaked data classes, sorted ignoring case.
    pub data_classes: Vec<String>,
    /// Properties such as `fabricated` and `retired`.
    pub flags: Flags,
    /// False if only the operator sees the breach.
    pub active: bool,
}

impl Breach {
    /// Returns whether searches by address and by hash prefix show the breach.
    pub fn shown_for_address(&self) -> bool {
        self.shown_for_domain() && !self.flags.sensitive
    }

    /// Returns whether searches by the controller of a domain show the breach. The same rule
    /// applies to stealer-log pairs.
    pub fn shown_for_domain(&self) -> bool {
        self.active && !self.flags.retired
    }

    /// Returns whether the controller of a domain sees the breach even if the domain is larger than
    /// the plan covers.
    pub fn shown_without_subscription(&self) -> bool {
        self.shown_for_domain() && self.flags.subscription_free
    }

    /// Activates the breach. Unless `keep_dates` is true, its dates are set to the current minute,
    /// so that polling clients notice it.
    pub fn activate(&mut self, keep_dates: bool, now: i64) {
        self.active = true;
        if !keep_dates {
            let minute = instant::whole_minute(now);
            (self.added, self.modified) = (minute, minute);
        }
    }

    /// Returns whether the catalogue lists the breach.
    pub fn listed(&self) -> bool {
        self.active
    }
}
