//! Callback for addresses read from a file.

use std::io;

use super::skip_reason::SkipReason;

/// Receives a line number, along with the text found there or the reason the line was skipped.
pub type Each<'e> = &'e mut dyn FnMut(u64, Result<&str, SkipReason>) -> io::Result<()>;

/// Line numbers, each with the text found there or the reason the line was skipped.
#[cfg(test)]
pub type Found = Vec<(u64, Result<String, SkipReason>)>;

/// Collects everything that `read` finds.
#[cfg(test)]
pub fn collect(read: impl FnOnce(Each<'_>) -> io::Result<()>) -> io::Result<Found> {
    let mut found = Vec::new();
    read(&mut |line, text| {
        found.push((line, text.map(str::to_owned)));
        Ok(())
    })?;
    Ok(found)
}

/// Returns the value that a reader passes on for an address found on a line.
#[cfg(test)]
pub fn address(line: u64, text: &str) -> (u64, Result<String, SkipReason>) {
    (line, Ok(text.to_owned()))
}
