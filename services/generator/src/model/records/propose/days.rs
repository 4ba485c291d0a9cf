//! Days in the checks of columns.

/// Adds days to a date.
pub fn moved(day: &str, days: i64) -> Option<String> {
    let day: jiff::civil::Date = day.parse().ok()?;
    let span = jiff::Span::new().try_days(days).ok()?;
    Some(day.checked_add(span).ok()?.to_string())
}
