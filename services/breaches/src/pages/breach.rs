//! The home page, catalogue pages and RSS feed.

use askama::Template;

use crate::app::CatalogueSummary;
use crate::model::{Breach, entry, instant, markup};

/// A breach, ready for display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BreachView {
    /// Stable name.
    pub name: String,
    pub title: String,
    /// Domain of the breached site. May be empty.
    pub domain: String,
    /// Date of the breach as `YYYY-MM-DD`.
    pub breach_date: String,
    /// Date it was added as `YYYY-MM-DD`.
    pub added_date: String,
    /// When it was added, in Unix seconds.
    pub added: i64,
    /// Number of addresses, with thousands separators.
    pub accounts: String,
    /// HTML description, not yet sanitized.
    pub description: String,
    pub data_classes: Vec<String>,
    /// Flags as text.
    pub marks: Vec<&'static str>,
    /// Attribution requested by the source of the data.
    pub attribution: Option<String>,
    /// Link to the breached party's disclosure.
    pub disclosure_url: Option<String>,
}

impl From<Breach> for BreachView {
    fn from(breach: Breach) -> Self {
        let flags = &breach.flags;
        let marks = [
            (!flags.verified, "unverified"),
            (flags.fabricated, "fabricated"),
            (flags.sensitive, "sensitive"),
            (flags.retired, "retired"),
            (flags.spam_list, "spam list"),
            (flags.malware, "malware"),
            (flags.stealer_log, "stealer log"),
        ];
        Self {
            name: breach.name,
            title: breach.title,
            domain: breach.domain,
            breach_date: breach.breach_date,
            added_date: instant::date(breach.added),
            added: breach.added,
            accounts: grouped(breach.pwn_count),
            description: breach.description,
            data_classes: breach.data_classes,
            marks: marks
                .into_iter()
                .filter(|(applies, _)| *applies)
                .map(|(_, mark)| mark)
                .collect(),
            attribution: breach.attribution,
            disclosure_url: breach.disclosure_url.filter(|url| is_web(url)),
        }
    }
}

/// Returns `true` for links that are safe to follow in a browser.
fn is_web(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}

/// Adds thousands separators.
pub fn grouped(number: i64) -> String {
    batch::Count(u64::try_from(number).unwrap_or(0)).to_string()
}

pub fn views(breaches: Vec<Breach>) -> Vec<BreachView> {
    breaches.into_iter().map(BreachView::from).collect()
}

/// The home page with its search form and catalogue statistics.
#[derive(Template)]
#[template(path = "home.html")]
pub struct HomePage<'a> {
    csrf: &'a str,
    breaches: String,
    accounts: String,
    latest: Vec<BreachView>,
}

impl<'a> HomePage<'a> {
    pub fn new(csrf: &'a str, summary: CatalogueSummary) -> Self {
        Self {
            csrf,
            breaches: grouped(i64::try_from(summary.breaches).unwrap_or(0)),
            accounts: grouped(summary.accounts),
            latest: views(summary.latest),
        }
    }
}

/// The list of breaches, with a search box.
#[derive(Template)]
#[template(path = "catalogue.html")]
pub struct CataloguePage<'a> {
    pub text: &'a str,
    pub breaches: &'a [BreachView],
}

/// Details of a breach.
#[derive(Template)]
#[template(path = "breach.html")]
pub struct BreachPage<'a> {
    pub breach: &'a BreachView,
}

impl BreachPage<'_> {
    fn description(&self) -> String {
        markup::allowed(&self.breach.description)
    }
}

/// RSS feed of new breaches.
#[derive(Template)]
#[template(path = "feed.xml")]
pub struct Feed<'a> {
    pub url: &'a str,
    pub breaches: &'a [BreachView],
}

impl Feed<'_> {
    fn date(&self, breach: &BreachView) -> String {
        instant::mail_date(breach.added)
    }

    /// Replaces characters that XML forbids, which older versions may have stored.
    fn plain(&self, text: &str) -> String {
        text.replace(entry::is_unprintable, " ")
    }
}
