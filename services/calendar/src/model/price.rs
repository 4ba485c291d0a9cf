//! Prices in the page languages.

use super::cost::{Cost, Currency};
use super::language::Language;

/// Formats a cost for a page. English pages use the same format as the API. Other languages have
/// their own number and price formats and ignore CURRENCY_POSITION.
pub fn shown(cost: &Cost, currency: &Currency, language: Language) -> String {
    let (Some(low), Some(high)) = (cost.values.first(), cost.values.last()) else {
        return cost.shown.clone();
    };
    let is_amount = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let is_free = |text: &str| text == "free" || text.parse() == Ok(0.0);
    let symbol = if cost.symbol.is_empty() { &currency.symbol } else { &cost.symbol };
    let free = language.words().free;
    let price = |low: &str, high: &str| language.price((low, high), symbol.trim());
    match (is_free(low), is_free(high)) {
        _ if language == Language::En => cost.shown.clone(),
        (true, true) => free.to_owned(),
        (true, false) if is_amount(high) => language.range(free, &price(high, high)),
        (false, false) if is_amount(low) && is_amount(high) => price(low, high),
        _ => cost.shown.clone(),
    }
}
