//! Callback for addresses read from a file.

use std::io;

use super::skip_reason::SkipReason;

/// Receives a line number, and either the text found there or the reason the line was skipped.
pub type Each<'e> = &'e mut dyn FnMut(u64, Result<&str, SkipReason>) -> io::Result<()>;

/// Lines and what a reader found there.
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

/// An address that was found on a line.
#[cfg(test)]
pub fn address(line: u64, text: &str) -> (u64, Result<String, SkipReason>) {
    (line, Ok(text.to_owned()))
}
