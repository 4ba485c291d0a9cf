//! The callback for addresses that are read from a file.

use std::io;

use super::skip_reason::SkipReason;

/// Receives a line number with the text that was found, or with the reason for skipping the line.
pub type Each<'e> = &'e mut dyn FnMut(u64, Result<&str, SkipReason>) -> io::Result<()>;
