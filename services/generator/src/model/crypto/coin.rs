//! Coins and their address formats.

use super::encode::Scheme;
use crate::model::random::Random;

/// A coin and its address formats.
pub struct Coin {
    /// The name used in responses.
    pub name: &'static str,
    /// The ticker symbol, also accepted as a name.
    pub ticker: &'static str,
    /// A former ticker symbol that is still accepted, if any.
    pub(super) alias: Option<&'static str>,
    /// The coin's address formats, with weights. Formats with weight 0 are accepted but not
    /// generated.
    pub(super) forms: &'static [(Scheme, u16)],
}

impl Coin {
    /// Appends a random address.
    pub fn write(&self, random: &mut Random, out: &mut String) {
        random.pick_weighted(self.forms).write(random, out);
    }
}
