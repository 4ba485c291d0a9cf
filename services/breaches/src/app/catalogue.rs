//! The catalogue for pages.

use crate::model::{Breach, Catalogue};
use crate::state::State;

/// The size of the catalogue and its latest breaches.
#[derive(Clone, Debug)]
pub struct CatalogueSummary {
    /// The number of listed breaches.
    pub breaches: usize,
    /// The number of accounts in them.
    pub accounts: i64,
    /// The latest breaches, newest first.
    pub latest: Vec<Breach>,
}

fn newest_first(catalogue: &Catalogue) -> Vec<&Breach> {
    let mut listed: Vec<&Breach> = catalogue.all().iter().filter(|b| b.listed()).collect();
    listed.sort_by(|a, b| (b.added, &a.name).cmp(&(a.added, &b.name)));
    listed
}

/// Returns the size of the catalogue and its `latest` breaches.
pub fn summary(state: &State, latest: usize) -> CatalogueSummary {
    let snapshot = state.snapshot();
    let listed = newest_first(&snapshot.answers.catalogue);
    // Each count fits into `i64`, but the sum may not.
    let accounts = listed.iter().fold(0_i64, |sum, breach| sum.saturating_add(breach.pwn_count));
    CatalogueSummary {
        breaches: listed.len(),
        accounts,
        latest: listed.into_iter().take(latest).cloned().collect(),
    }
}

/// Returns the listed breaches, newest first, whose title, name or domain contains a text.
pub fn find_breaches(state: &State, text: &str) -> Vec<Breach> {
    let (snapshot, text) = (state.snapshot(), text.trim().to_lowercase());
    let has = |part: &String| part.to_lowercase().contains(&text);
    let mut found = newest_first(&snapshot.answers.catalogue);
    found.retain(|breach| [&breach.title, &breach.name, &breach.domain].into_iter().any(has));
    found.into_iter().cloned().collect()
}

/// Returns a listed breach by its name.
pub fn listed_breach(state: &State, name: &str) -> Option<Breach> {
    let snapshot = state.snapshot();
    let catalogue = &snapshot.answers.catalogue;
    let index = catalogue.listed_index(name)?;
    catalogue.all().get(index).cloned()
}
