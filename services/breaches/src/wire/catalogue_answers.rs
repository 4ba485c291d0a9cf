//! Catalogue responses. They are rendered only once per catalogue version.

use bytes::Bytes;
use serde::Serialize;

use super::breach::Breach;
use crate::model::{self, Catalogue};

/// The catalogue and its rendered responses.
#[derive(Debug, Default)]
pub struct CatalogueAnswers {
    pub catalogue: Catalogue,
    /// Response to `breaches` without filters.
    pub listing: Bytes,
    /// Entity tag, derived from the version.
    pub version_tag: String,
    full: Vec<String>,
    truncated: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct TruncatedBreach<'a> {
    name: &'a str,
}

impl CatalogueAnswers {
    /// Renders the responses for a catalogue.
    ///
    /// # Errors
    /// Fails if a breach can't be serialized.
    pub fn new(catalogue: Catalogue) -> Result<Self, serde_json::Error> {
        let breaches = catalogue.all();
        let full = breaches
            .iter()
            .map(|breach| serde_json::to_string(&Breach::from(breach)))
            .collect::<Result<Vec<_>, _>>()?;
        let truncated = breaches
            .iter()
            .map(|breach| serde_json::to_string(&TruncatedBreach { name: &breach.name }))
            .collect::<Result<Vec<_>, _>>()?;
        let version_tag = format!("{}-{}", catalogue.version, catalogue.changed_at);
        let mut answers = Self { listing: Bytes::new(), catalogue, version_tag, full, truncated };
        answers.listing = answers.list(|_| true).into();
        Ok(answers)
    }

    /// Returns the listed breaches that pass a filter, in full.
    pub fn list(&self, passes: impl Fn(&model::Breach) -> bool) -> String {
        let breaches = self.catalogue.all().iter().enumerate();
        let indexes: Vec<usize> = breaches
            .filter(|(_, breach)| breach.listed() && passes(breach))
            .map(|(index, _)| index)
            .collect();
        self.array(&indexes, false)
    }

    /// Returns a breach in full, given its index in the catalogue.
    pub fn one(&self, index: usize) -> String {
        self.full.get(index).cloned().unwrap_or_default()
    }

    /// Returns a JSON array of the breaches with these indexes.
    pub fn array(&self, indexes: &[usize], truncated: bool) -> String {
        let texts = if truncated { &self.truncated } else { &self.full };
        let chosen = || indexes.iter().filter_map(|index| texts.get(*index));
        let size = chosen().map(|text| text.len() + 1).sum::<usize>();
        let mut array = String::with_capacity(size + 2);
        array.push('[');
        for text in chosen() {
            if array.len() > 1 {
                array.push(',');
            }
            array.push_str(text);
        }
        array.push(']');
        array
    }
}
