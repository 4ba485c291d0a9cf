//! Amounts of money with currency symbols.

use super::number::plain_number;
use super::symbol::is_symbol;

/// An amount of money.
#[derive(Clone, Debug, PartialEq)]
pub struct Amount {
    /// The amount as written, without the symbol.
    pub text: String,
    /// The amount with a decimal point and without digit grouping.
    pub value: String,
    /// The numeric value. Only used for sorting.
    pub size: f64,
}

/// The currency symbol of an amount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The symbol.
    pub symbol: String,
    /// Whether the symbol comes before the amount.
    pub prefix: bool,
}

/// Characters that can separate amounts.
const SEPARATORS: [char; 6] = ['-', '–', '—', ';', '|', '/'];

/// Parses one or more amounts, such as `10`, `$10 - $30` or `25 €; 30 €`. The word `free` yields an
/// amount of `None`. Returns `None` if the input contains anything else.
pub fn amounts(input: &str) -> Option<Vec<(Option<Amount>, Option<Mark>)>> {
    let parts = input.replace(" to ", "-");
    parts.split(SEPARATORS).map(|part| one(part.trim())).collect()
}

fn one(part: &str) -> Option<(Option<Amount>, Option<Mark>)> {
    if part.eq_ignore_ascii_case("free") {
        return Some((None, None));
    }
    let from = part.find(|c: char| c.is_ascii_digit())?;
    let until = part.rfind(|c: char| c.is_ascii_digit())? + 1;
    let (before, digits, after) = (&part[..from], &part[from..until], &part[until..]);
    let (before, after) = (before.trim(), after.trim());
    let mark = match (before.is_empty(), after.is_empty()) {
        (true, true) => None,
        (false, true) => Some(Mark { symbol: before.to_owned(), prefix: true }),
        (true, false) => Some(Mark { symbol: after.to_owned(), prefix: false }),
        (false, false) => return None,
    };
    if !mark.as_ref().is_none_or(|mark| is_symbol(&mark.symbol)) {
        return None;
    }
    let value = plain_number(digits)?;
    let size = value.parse().ok()?;
    Some((Some(Amount { text: digits.to_owned(), value, size }), mark))
}
