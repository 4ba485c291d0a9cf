//! Callback for addresses read from a file.

use std::io;

use super::skip_reason::SkipReason;

/// Receives a line number, and either the text found there or the reason the line was skipped.
pub type Each<'e> = &'e mut dyn FnMut(u64, Result<&str, SkipReason>) -> io::Result<()>;
