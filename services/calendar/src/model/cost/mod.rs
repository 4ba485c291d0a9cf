//! Parses free-form costs. Renders them as a single string plus a list of values.
//!
//! Prices are never guessed: input that can't be parsed is shown verbatim and doesn't yield any
//! values.

mod amount;
mod number;
mod symbol;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use self::amount::{Amount, Mark, amounts};
pub use self::symbol::is_code;

/// The site's currency, which applies to amounts without a symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Currency {
    /// Symbol for amounts that don't have one.
    pub symbol: String,
    /// Whether the symbol comes before the amount.
    pub prefix: bool,
    /// ISO 4217 code, or empty if not configured.
    pub code: String,
}

/// A parsed cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// The whole cost as displayed.
    pub shown: String,
    /// The symbol used in the amounts themselves.
    pub symbol: String,
    /// Position of that symbol: `prefix`, `postfix`, or empty if there isn't one.
    pub position: &'static str,
    /// Distinct amounts in ascending order and without digit grouping, and words in lower case.
    pub values: Vec<String>,
}

/// An amount, or a string without digits.
#[derive(Clone, Debug, PartialEq)]
enum Entry {
    Amount(Amount),
    Word(String),
}

/// Parses the stored strings of a cost.
pub fn read(inputs: &[String], currency: &Currency) -> Cost {
    let inputs: Vec<&str> =
        inputs.iter().map(|input| input.trim()).filter(|input| !input.is_empty()).collect();
    understood(&inputs, currency)
        .unwrap_or_else(|| Cost { shown: inputs.join(", "), ..Cost::default() })
}

/// Parses inputs that consist of words and amounts in a single currency. Returns `None` for
/// anything else.
fn understood(inputs: &[&str], currency: &Currency) -> Option<Cost> {
    let mut entries = Vec::new();
    let mut mark: Option<Mark> = None;
    for input in inputs {
        if !input.contains(char::is_numeric) {
            entries.push(Entry::Word((*input).to_owned()));
            continue;
        }
        for (entry, own) in amounts(input)? {
            let same = |mark: &Mark| own.as_ref().is_none_or(|own| own.symbol == mark.symbol);
            if !mark.as_ref().is_none_or(same) {
                return None;
            }
            mark = mark.or(own);
            entries.push(entry.map_or_else(|| Entry::Word("free".to_owned()), Entry::Amount));
        }
    }
    entries.sort_by(order);
    entries.dedup_by(|a, b| value(a) == value(b));
    let (Some(first), Some(last)) = (entries.first(), entries.last()) else {
        return Some(Cost::default());
    };
    let low = show(first, mark.as_ref(), currency);
    let high = show(last, mark.as_ref(), currency);
    let position = match &mark {
        Some(mark) if mark.prefix => "prefix",
        Some(_) => "postfix",
        None => "",
    };
    Some(Cost {
        shown: if low == high { low } else { format!("{low} – {high}") },
        position,
        values: entries.iter().map(value).collect(),
        symbol: mark.map(|mark| mark.symbol).unwrap_or_default(),
    })
}

fn is_free(word: &str) -> bool {
    word.eq_ignore_ascii_case("free")
}

fn value(entry: &Entry) -> String {
    match entry {
        Entry::Amount(amount) => amount.value.clone(),
        Entry::Word(word) => word.to_lowercase(),
    }
}

/// Sorts by amount. `free` counts as zero, and other words come last.
fn order(a: &Entry, b: &Entry) -> Ordering {
    let size = |entry: &Entry| match entry {
        Entry::Amount(amount) => amount.size,
        Entry::Word(word) if is_free(word) => 0.0,
        Entry::Word(_) => f64::INFINITY,
    };
    size(a).total_cmp(&size(b))
}

fn show(entry: &Entry, mark: Option<&Mark>, currency: &Currency) -> String {
    match entry {
        Entry::Word(word) if is_free(word) => "Free".to_owned(),
        Entry::Word(word) => word.clone(),
        Entry::Amount(amount) if amount.size == 0.0 => "Free".to_owned(),
        Entry::Amount(Amount { text, .. }) => {
            let (symbol, prefix) = match mark {
                Some(mark) => (mark.symbol.as_str(), mark.prefix),
                None => (currency.symbol.as_str(), currency.prefix),
            };
            if prefix { format!("{symbol}{text}") } else { format!("{text}{symbol}") }
        }
    }
}
