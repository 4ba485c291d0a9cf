//! Errors in schemas.

use std::fmt;

/// Maximum number of errors to report.
const MOST: usize = 100;

/// An error in a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaFault {
    /// JSON pointer (RFC 6901) to the offending member.
    pub pointer: String,
    /// The violated rule, or what to write instead.
    pub message: String,
}

impl fmt::Display for SchemaFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pointer = if self.pointer.is_empty() { "the schema" } else { &self.pointer };
        write!(f, "{pointer}: {}", self.message)
    }
}

/// Collects all errors in a schema.
#[derive(Debug, Default)]
pub struct Faults {
    /// The first errors.
    kept: Vec<SchemaFault>,
    count: usize,
}

impl Faults {
    /// Counts an error, and keeps it unless it is a duplicate or there are too many.
    pub fn add(&mut self, pointer: impl Into<String>, message: impl Into<String>) {
        self.count += 1;
        if self.kept.len() < MOST {
            let fault = SchemaFault { pointer: pointer.into(), message: message.into() };
            if !self.kept.contains(&fault) {
                self.kept.push(fault);
            }
        }
    }

    /// Returns whether further errors would be discarded.
    pub fn are_many(&self) -> bool {
        self.count >= MOST
    }

    /// Returns the number of errors so far.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the first errors, in the order in which they were found.
    pub fn into_vec(self) -> Vec<SchemaFault> {
        self.kept
    }
}
