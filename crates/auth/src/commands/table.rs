//! Prints tables and timestamps for humans.

use std::io::Write;

use jiff::Timestamp;

/// Prints rows under a header line, with columns padded to their widest cell.
pub(super) fn print(
    out: &mut dyn Write,
    titles: &[String],
    rows: &[Vec<String>],
) -> std::io::Result<()> {
    let mut widths: Vec<usize> = titles.iter().map(|title| title.chars().count()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    for row in std::iter::once(titles).chain(rows.iter().map(Vec::as_slice)) {
        let line: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        writeln!(out, "{}", line.join("  ").trim_end())?;
    }
    Ok(())
}

/// Formats a timestamp for humans, in UTC and to the minute. `None` becomes `-`.
pub(super) fn instant(unix: Option<i64>) -> String {
    match unix.and_then(|unix| Timestamp::from_second(unix).ok()) {
        Some(instant) => instant.strftime("%Y-%m-%d %H:%M").to_string(),
        None => "-".to_owned(),
    }
}

/// Formats a timestamp for machines, as in RFC 3339.
pub(super) fn rfc3339(unix: Option<i64>) -> Option<String> {
    unix.and_then(|unix| Timestamp::from_second(unix).ok()).map(|instant| instant.to_string())
}
