//! The receiver of addresses that are read from a file.

use std::io;

use super::skip_reason::SkipReason;

/// Receives a line number with the found text or the reason for skipping it.
pub type Each<'e> = &'e mut dyn FnMut(u64, Result<&str, SkipReason>) -> io::Result<()>;
