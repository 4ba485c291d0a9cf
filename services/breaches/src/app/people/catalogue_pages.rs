//! The catalogue as people read it.

use crate::model::{Breach, Catalogue, instant};
use crate::state::State;

/// What a page shows of a breach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BreachView {
    /// Stable key.
    pub name: String,
    /// Title.
    pub title: String,
    /// Domain of the breached site, or empty.
    pub domain: String,
    /// `YYYY-MM-DD`.
    pub breach_date: String,
    /// `YYYY-MM-DD`.
    pub added_date: String,
    /// When it was added, Unix seconds.
    pub added: i64,
    /// Number of addresses with its thousands apart.
    pub accounts: String,
    /// HTML of the catalogue.
    pub description: String,
    /// Classes of data.
    pub data_classes: Vec<String>,
    /// What is said of it, in words.
    pub marks: Vec<&'static str>,
    /// Attribution that the provider of the data asked for.
    pub attribution: Option<String>,
    /// Where the breached party disclosed it.
    pub disclosure_url: Option<String>,
}

impl BreachView {
    /// What a page shows of a breach.
    pub fn of(breach: &Breach) -> Self {
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
            name: breach.name.clone(),
            title: breach.title.clone(),
            domain: breach.domain.clone(),
            breach_date: breach.breach_date.clone(),
            added_date: instant::date(breach.added),
            added: breach.added,
            accounts: grouped(breach.pwn_count),
            description: breach.description.clone(),
            data_classes: breach.data_classes.clone(),
            marks: marks.into_iter().filter(|(holds, _)| *holds).map(|(_, mark)| mark).collect(),
            attribution: breach.attribution.clone(),
            disclosure_url: breach.disclosure_url.clone().filter(|url| is_web(url)),
        }
    }
}

/// Whether a link of the catalogue is one that a browser may follow.
fn is_web(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}

/// A number with its thousands apart.
pub fn grouped(number: i64) -> String {
    batch::Count(u64::try_from(number).unwrap_or(0)).to_string()
}

/// The catalogue in a few numbers.
#[derive(Clone, Debug)]
pub struct CatalogueSummary {
    /// Listed breaches.
    pub breaches: String,
    /// Accounts in them.
    pub accounts: String,
    /// The latest, newest first.
    pub latest: Vec<BreachView>,
}

fn newest_first(catalogue: &Catalogue) -> Vec<&Breach> {
    let mut listed: Vec<&Breach> = catalogue.all().iter().filter(|b| b.listed()).collect();
    listed.sort_by(|a, b| (b.added, &a.name).cmp(&(a.added, &b.name)));
    listed
}

/// The catalogue in a few numbers, with its `latest` breaches.
pub fn summary(state: &State, latest: usize) -> CatalogueSummary {
    let snapshot = state.snapshot();
    let listed = newest_first(&snapshot.answers.catalogue);
    // As large as each count may be, their sum may be larger.
    let accounts = listed.iter().fold(0_i64, |sum, breach| sum.saturating_add(breach.pwn_count));
    CatalogueSummary {
        breaches: grouped(i64::try_from(listed.len()).unwrap_or(0)),
        accounts: grouped(accounts),
        latest: listed.into_iter().take(latest).map(BreachView::of).collect(),
    }
}

/// The listed breaches, newest first, whose title, name or domain has a text in it.
pub fn catalogue_page(state: &State, text: &str) -> Vec<BreachView> {
    let (snapshot, text) = (state.snapshot(), text.trim().to_lowercase());
    let has = |part: &String| part.to_lowercase().contains(&text);
    let mut found = newest_first(&snapshot.answers.catalogue);
    found.retain(|breach| [&breach.title, &breach.name, &breach.domain].into_iter().any(has));
    found.into_iter().map(BreachView::of).collect()
}

/// A listed breach by its name.
pub fn breach_page(state: &State, name: &str) -> Option<BreachView> {
    let snapshot = state.snapshot();
    let catalogue = &snapshot.answers.catalogue;
    let index = catalogue.listed_index(name)?;
    catalogue.all().get(index).map(BreachView::of)
}
