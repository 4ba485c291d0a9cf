//! The responses of catalogue operations. They are rendered once per version of the catalogue.

use bytes::Bytes;
use serde::Serialize;

use super::breach::Breach;
use crate::model::{self, Catalogue};

/// The catalogue, with its responses rendered as JSON.
#[derive(Debug, Default)]
pub struct CatalogueAnswers {
    /// The catalogue from which the responses are rendered.
    pub catalogue: Catalogue,
    /// The response to the operation `breaches` without filters.
    pub listing: Bytes,
    /// The entity tag, which is derived from the version.
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
    /// Renders the responses of a catalogue.
    ///
    /// # Errors
    /// Returns an error if a breach cannot be written as JSON.
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

    /// Returns the listed breaches that pass a filter, with all attributes.
    pub fn list(&self, passes: impl Fn(&model::Breach) -> bool) -> String {
        let breaches = self.catalogue.all().iter().enumerate();
        let indexes: Vec<usize> = breaches
            .filter(|(_, breach)| breach.listed() && passes(breach))
            .map(|(index, _)| index)
            .collect();
        self.array(&indexes, false)
    }

    /// Returns one breach with all attributes, given its index in the catalogue.
    pub fn one(&self, index: usize) -> String {
        self.full.get(index).cloned().unwrap_or_default()
    }

    /// Returns the breaches at the given indexes of the catalogue as a JSON array.
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
