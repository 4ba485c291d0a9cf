//! Handles dates in check constraints and in samples.

/// Adds days to a date.
pub fn moved(day: &str, days: i64) -> Option<String> {
    let day: jiff::civil::Date = day.parse().ok()?;
    let span = jiff::Span::new().try_days(days).ok()?;
    Some(day.checked_add(span).ok()?.to_string())
}

/// Regular expressions for days and months (with and without leading zeros) and for years.
const DAYS: [&str; 2] = ["([1-9]|1[0-9]|2[0-8])", "(0[1-9]|1[0-9]|2[0-8])"];
const MONTHS: [&str; 2] = ["([1-9]|1[0-2])", "(0[1-9]|1[0-2])"];
const YEARS: &str = "(19[5-9][0-9]|20[01][0-9]|202[0-5])";

/// Returns a regular expression for dates in the same notation as `values`, such as `31.12.2024`,
/// `12/31/2024` or `2024/12/31`. Returns `None` if any value isn't such a date.
pub fn local(values: &[&str]) -> Option<String> {
    let sign = values.first()?.chars().find(|letter| !letter.is_ascii_digit())?;
    let mut dates = Vec::new();
    for value in values {
        let parts: Vec<&str> = value.split(sign).collect();
        let [first, second, third] = parts[..] else { return None };
        let numbers = [first, second, third].map(|part| part.parse::<u16>().ok());
        let [Some(one), Some(two), Some(three)] = numbers else { return None };
        dates.push(([one, two, three], [first.len(), second.len(), third.len()]));
    }
    let is_in = |place: usize, most: u16| {
        dates.iter().all(|(numbers, _)| (1..=most).contains(&numbers[place]))
    };
    let is_year = |place: usize| dates.iter().all(|(_, lengths)| lengths[place] == 4);
    let (first, second) = if is_year(0) { (1, 2) } else { (0, 1) };
    let is_short = dates.iter().any(|(_, lengths)| lengths[first] < 2 || lengths[second] < 2);
    let is_fit = dates.iter().all(|(_, lengths)| lengths[first] <= 2 && lengths[second] <= 2);
    if !".-/".contains(sign) || !is_fit || !(is_year(0) || is_year(2)) {
        return None;
    }
    let [day, month] = [DAYS, MONTHS].map(|form| form[usize::from(!is_short)]);
    let sign = regex_syntax::escape(&sign.to_string());
    let (first, second) = match (is_in(first, 12), is_in(second, 12)) {
        // If either could be the month, neither exceeds 12.
        (true, true) if !is_year(0) => (month, month),
        (true, _) if is_in(second, 31) => (month, day),
        (_, true) if is_in(first, 31) => (day, month),
        _ => return None,
    };
    Some(match is_year(0) {
        true => format!("{YEARS}{sign}{first}{sign}{second}"),
        false => format!("{first}{sign}{second}{sign}{YEARS}"),
    })
}
