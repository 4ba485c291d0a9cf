//! Costs: amounts and words as people write them, shown as one text with its parts.

use std::cmp::Ordering;

/// How the site writes money when an amount does not say so itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Currency {
    pub symbol: String,
    pub prefix: bool,
    pub code: String,
}

/// A cost ready to be shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    pub shown: String,
    pub symbol: String,
    pub position: &'static str,
    pub values: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
enum Entry {
    /// `text` as written, without symbol; `value` with neither grouping nor comma.
    Amount {
        text: String,
        value: String,
        size: f64,
    },
    Word(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Mark {
    symbol: String,
    prefix: bool,
}

/// The longest currency symbol, in characters.
const SYMBOL_CHARACTERS: usize = 4;

/// Reads the stored inputs of a cost.
pub fn read(inputs: &[String], currency: &Currency) -> Cost {
    let mut entries = Vec::new();
    let mut mark: Option<Mark> = None;
    for input in inputs.iter().map(|input| input.trim()).filter(|input| !input.is_empty()) {
        match amounts(input) {
            Some((found, own)) => {
                entries.extend(found);
                mark = mark.or(own);
            }
            None => entries.push(Entry::Word(input.to_owned())),
        }
    }
    entries.sort_by(order);
    entries.dedup_by(|a, b| value(a) == value(b));
    let (Some(first), Some(last)) = (entries.first(), entries.last()) else {
        return Cost::default();
    };
    let low = show(first, mark.as_ref(), currency);
    let high = show(last, mark.as_ref(), currency);
    let shown = if low == high { low } else { format!("{low} – {high}") };
    let position = match &mark {
        Some(mark) if mark.prefix => "prefix",
        Some(_) => "postfix",
        None => "",
    };
    Cost {
        shown,
        position,
        symbol: mark.map(|mark| mark.symbol).unwrap_or_default(),
        values: entries.iter().map(value).collect(),
    }
}

fn is_free(word: &str) -> bool {
    word.eq_ignore_ascii_case("free")
}

fn value(entry: &Entry) -> String {
    match entry {
        Entry::Amount { value, .. } => value.clone(),
        Entry::Word(word) if is_free(word) => "free".to_owned(),
        Entry::Word(word) => word.clone(),
    }
}

/// Orders amounts upwards with `free` as nothing, other words behind them in their own order.
fn order(a: &Entry, b: &Entry) -> Ordering {
    let size = |entry: &Entry| match entry {
        Entry::Amount { size, .. } => *size,
        Entry::Word(word) if is_free(word) => 0.0,
        Entry::Word(_) => f64::INFINITY,
    };
    size(a).total_cmp(&size(b))
}

fn show(entry: &Entry, mark: Option<&Mark>, currency: &Currency) -> String {
    match entry {
        Entry::Word(word) if is_free(word) => "Free".to_owned(),
        Entry::Word(word) => word.clone(),
        Entry::Amount { size, .. } if *size == 0.0 => "Free".to_owned(),
        Entry::Amount { text, .. } => {
            let (symbol, prefix) = match mark {
                Some(mark) => (mark.symbol.as_str(), mark.prefix),
                None => (currency.symbol.as_str(), currency.prefix),
            };
            if prefix { format!("{symbol}{text}") } else { format!("{text}{symbol}") }
        }
    }
}

/// Reads `10`, `$10 - $30`, `25 €`: amounts with dashes or `to` between them, and nothing else.
fn amounts(input: &str) -> Option<(Vec<Entry>, Option<Mark>)> {
    let dashed = input.replace(['–', '—'], "-").replace(" to ", "-");
    let mut entries = Vec::new();
    let mut mark = None;
    for part in dashed.split('-') {
        let (entry, own) = amount(part.trim())?;
        entries.push(entry);
        mark = mark.or(own);
    }
    Some((entries, mark))
}

fn amount(part: &str) -> Option<(Entry, Option<Mark>)> {
    let from = part.find(|c: char| c.is_ascii_digit())?;
    let (before, rest) = part.split_at(from);
    let until =
        rest.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ','))).unwrap_or(rest.len());
    let (digits, after) = rest.split_at(until);
    let (before, after) = (before.trim(), after.trim());
    let mark = match (before.is_empty(), after.is_empty()) {
        (true, true) => None,
        (false, true) => Some(Mark { symbol: symbol(before)?, prefix: true }),
        (true, false) => Some(Mark { symbol: symbol(after)?, prefix: false }),
        (false, false) => return None,
    };
    let value = plain_number(digits)?;
    let size = value.parse().ok()?;
    Some((Entry::Amount { text: digits.to_owned(), value, size }, mark))
}

/// Accepts what looks like a currency: a sign, two letters, or three capitals.
fn symbol(text: &str) -> Option<String> {
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let count = text.chars().count();
    let fits = count <= SYMBOL_CHARACTERS && !text.contains(char::is_whitespace);
    let currency = letters < count
        || count <= 2
        || (count == 3 && text.bytes().all(|byte| byte.is_ascii_uppercase()));
    (fits && currency).then(|| text.to_owned())
}

/// Removes grouping commas and turns a decimal comma into a point.
fn plain_number(text: &str) -> Option<String> {
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => match text.rsplit_once(',') {
            Some((whole, cents)) if matches!(cents.len(), 1 | 2) => (whole, Some(cents)),
            _ => (text, None),
        },
    };
    let groups: Vec<&str> = whole.split(',').collect();
    let grouped = groups[1..].iter().all(|group| group.len() == 3);
    let whole = groups.concat();
    let all_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !grouped || groups[0].is_empty() || !all_digits(&whole) || whole.len() > 15 {
        return None;
    }
    match fraction {
        Some(fraction) if all_digits(fraction) => Some(format!("{whole}.{fraction}")),
        Some(_) => None,
        None => Some(whole),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dollars() -> Currency {
        Currency { symbol: "$".into(), prefix: true, code: String::new() }
    }

    fn cost(inputs: &[&str]) -> (String, String, &'static str, Vec<String>) {
        let inputs: Vec<String> = inputs.iter().map(|input| (*input).to_owned()).collect();
        let cost = read(&inputs, &dollars());
        (cost.shown, cost.symbol, cost.position, cost.values)
    }

    #[test]
    fn every_row_of_the_table_is_read() {
        type Row = (
            &'static [&'static str],
            &'static str,
            &'static str,
            &'static str,
            &'static [&'static str],
        );
        let rows: [Row; 15] = [
            (&["25"], "$25", "", "", &["25"]),
            (&["$25"], "$25", "$", "prefix", &["25"]),
            (&["25€"], "25€", "€", "postfix", &["25"]),
            (&["€ 12.50"], "€12.50", "€", "prefix", &["12.50"]),
            (&["10-20"], "$10 – $20", "", "", &["10", "20"]),
            (&["$10 - $30"], "$10 – $30", "$", "prefix", &["10", "30"]),
            (&["0$", "20$", "30$"], "Free – 30$", "$", "postfix", &["0", "20", "30"]),
            (&["Free"], "Free", "", "", &["free"]),
            (&["abc"], "abc", "", "", &["abc"]),
            (&["0"], "Free", "", "", &["0"]),
            (&["1,234.56"], "$1,234.56", "", "", &["1234.56"]),
            (&["12,50 €"], "12,50€", "€", "postfix", &["12.50"]),
            (&["20", "5", "20"], "$5 – $20", "", "", &["5", "20"]),
            (&["10 for members"], "10 for members", "", "", &["10 for members"]),
            (&["", " "], "", "", "", &[]),
        ];
        for (inputs, shown, symbol, position, values) in rows {
            let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
            assert_eq!(cost(inputs), (shown.into(), symbol.into(), position, values), "{inputs:?}");
        }
    }
}
