//! Breaches and accounts at the test domain that cover every kind of behavior.

use super::breach::{Breach, Flags};
use super::opt_out::OptOut;
use super::paste::Paste;

/// An account at the test domain.
#[derive(Clone, Copy, Debug)]
pub struct TestAccount {
    /// Local part.
    pub alias: &'static str,
    /// Names of its breaches.
    pub breaches: &'static [&'static str],
    /// The owner's opt-out choice, if any.
    pub opt_out: Option<OptOut>,
    /// Included in the test paste.
    pub pasted: bool,
    /// Captured by a stealer log at `shop.` plus the test domain.
    pub captured: bool,
}

const fn account(alias: &'static str, breaches: &'static [&'static str]) -> TestAccount {
    TestAccount { alias, breaches, opt_out: None, pasted: false, captured: false }
}

/// All test accounts.
pub const ACCOUNTS: [TestAccount; 16] = [
    TestAccount { pasted: true, ..account("account-exists", &["Acmegram"]) },
    account("multiple-breaches", &["Acmegram", "Borealis", "Cobaltbay"]),
    account("not-active-and-active-breach", &["Acmegram", "Emberforum"]),
    account("not-active-breach", &["Emberforum"]),
    TestAccount {
        opt_out: Some(OptOut::Public),
        pasted: true,
        ..account("opt-out", &["Acmegram"])
    },
    TestAccount { opt_out: Some(OptOut::Public), ..account("opt-out-breach", &["Acmegram"]) },
    TestAccount { pasted: true, ..account("paste-sensitive-breach", &["Duskmatch"]) },
    TestAccount { opt_out: Some(OptOut::Breaches), ..account("permanent-opt-out", &[]) },
    account("sensitive-and-other-breaches", &["Acmegram", "Borealis", "Duskmatch"]),
    account("sensitive-breach", &["Duskmatch"]),
    account("spam-list-only", &["Glowmailer"]),
    account("spam-list-and-others", &["Acmegram", "Borealis", "Glowmailer"]),
    account("subscription-free-and-other-breaches", &["Acmegram", "Borealis", "Freegate"]),
    TestAccount { captured: true, ..account("stealer-log", &["HollowLogs"]) },
    account("subscription-free-breach", &["Freegate"]),
    account("unverified-breach", &["Inkwell"]),
];

/// Returns the paste that contains test accounts.
pub fn paste() -> Paste {
    Paste {
        source: "Pastebin".into(),
        id: "T3stP4st".into(),
        title: Some("fixture".into()),
        date: super::instant::parse("2014-11-28T06:11:00Z"),
        email_count: 245,
    }
}

/// Returns the website where one of the test accounts was captured.
pub fn website(test_domain: &str) -> String {
    format!("shop.{test_domain}")
}

/// Returns the fictional breaches. Their ids are assigned later.
pub fn fixtures() -> Vec<Breach> {
    let verified = Flags { verified: true, ..Flags::default() };
    vec![
        fixture("Acmegram", "a photo exchange", verified),
        fixture("Borealis", "a travel diary", verified),
        fixture("Cobaltbay", "a boat market", verified),
        fixture("Duskmatch", "a dating site", Flags { sensitive: true, ..verified }),
        Breach { active: false, ..fixture("Emberforum", "a forum on stoves", verified) },
        fixture("Freegate", "a ticket office", Flags { subscription_free: true, ..verified }),
        fixture("Glowmailer", "a list of newsletters", Flags { spam_list: true, ..verified }),
        fixture(
            "HollowLogs",
            "a collection of stealer logs",
            Flags { stealer_log: true, malware: true, ..verified },
        ),
        fixture("Inkwell", "a writers' club", Flags::default()),
    ]
}

fn fixture(name: &str, what: &str, flags: Flags) -> Breach {
    let number = i64::from(name.as_bytes().first().copied().unwrap_or(b'A') - b'A');
    let added = 1_388_577_600 + number * 86_400;
    let linked = ACCOUNTS.iter().filter(|account| account.breaches.contains(&name)).count();
    let linked = i64::try_from(linked).unwrap_or(0);
    Breach {
        id: 0,
        name: name.into(),
        title: name.into(),
        domain: format!("{}.example", name.to_lowercase()),
        breach_date: "2013-12-01".into(),
        added,
        modified: added,
        pwn_count: linked,
        loaded_count: 0,
        description: format!(
            "{name} is <em>fictional</em>: {what} made up for the test accounts of this service."
        ),
        logo_path: format!("https://logos.example/{name}.png"),
        attribution: None,
        disclosure_url: None,
        data_classes: vec!["Email addresses".into(), "Passwords".into()],
        flags,
        active: true,
    }
}
