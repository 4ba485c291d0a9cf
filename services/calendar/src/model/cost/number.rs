//! Numbers with digit grouping: `1,234.56`, `1.234,56`, `1 234`, `1'234`, `1,00,000`.

/// Maximum number of digits before the decimal point.
const DIGITS: usize = 15;

/// Removes digit grouping and converts a decimal comma to a point. Returns `None` if the grouping
/// doesn't follow any known convention. The input must start and end with a digit.
pub fn plain_number(text: &str) -> Option<String> {
    let is_separator = |c: char| !c.is_ascii_digit();
    let separators: Vec<char> = text.chars().filter(|c| is_separator(*c)).map(plain).collect();
    let groups: Vec<&str> = text.split(is_separator).collect();
    if separators.iter().any(|c| !matches!(c, ',' | '.' | ' ' | '\''))
        || groups.iter().any(|group| group.is_empty())
    {
        return None;
    }
    let (whole, fraction) = match separators.split_last() {
        Some((last, grouping)) if is_decimal(*last, grouping, &groups) => {
            if grouping.contains(last) {
                return None;
            }
            (&groups[..groups.len() - 1], groups.last())
        }
        _ => (&groups[..], None),
    };
    let grouping = &separators[..whole.len() - 1];
    let uniform = grouping.windows(2).all(|pair| pair[0] == pair[1]);
    if !uniform || !are_groups(whole, grouping.first() == Some(&',')) {
        return None;
    }
    let whole = whole.concat();
    // A leading zero suggests a date or phone number.
    if whole.len() > DIGITS || (whole.len() > 1 && whole.starts_with('0')) {
        return None;
    }
    Some(match fraction {
        Some(fraction) => format!("{whole}.{fraction}"),
        None => whole,
    })
}

/// Normalizes the spaces and apostrophes that are used as grouping.
fn plain(separator: char) -> char {
    match separator {
        '\u{a0}' | '\u{2009}' | '\u{202f}' => ' ',
        '\u{2019}' => '\'',
        other => other,
    }
}

/// Returns whether the last separator is the decimal separator. A single separator followed by
/// three digits counts as grouping (`1,500`, `1.500`), except in `0.500` and in numbers with more
/// than three digits before it.
fn is_decimal(last: char, grouping: &[char], groups: &[&str]) -> bool {
    let decimals = groups.last().map_or(0, |group| group.len());
    let first = groups.first().copied().unwrap_or_default();
    match (last, grouping.first()) {
        (' ' | '\'', _) => false,
        (_, Some(other)) => *other != last,
        (_, None) => decimals != 3 || first == "0" || first.len() > 3,
    }
}

/// Returns whether the digit groups are valid. Groups have three digits. With commas, all groups
/// except the last can have two digits, as in India.
fn are_groups(groups: &[&str], commas: bool) -> bool {
    let [first, middle @ .., last] = groups else { return true };
    let has_groups_of = |size: usize| {
        (1..=size).contains(&first.len()) && middle.iter().all(|group| group.len() == size)
    };
    last.len() == 3 && (has_groups_of(3) || commas && has_groups_of(2))
}
