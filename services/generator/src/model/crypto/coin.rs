//! A coin and how its addresses are made.

use super::encode::Scheme;
use crate::model::random::Random;

/// A coin with the forms of its addresses.
pub struct Coin {
    /// The name in answers.
    pub name: &'static str,
    /// The exchange's abbreviation, also accepted.
    pub ticker: &'static str,
    /// A former abbreviation.
    pub(super) alias: Option<&'static str>,
    /// Forms with their weights.
    pub(super) forms: &'static [(Scheme, u16)],
}

impl Coin {
    /// Writes an address.
    pub fn write(&self, random: &mut Random, out: &mut String) {
        random.pick_weighted(self.forms).write(random, out);
    }
}
