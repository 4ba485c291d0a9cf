//! Prints the output of commands: results to standard output, everything else to standard error.

use std::fmt::Display;
use std::io::{self, Write};

use serde::Serialize;

/// How a command prints its result.
///
/// With `--json`, the result is a single line of JSON. Otherwise, it is human-readable text.
/// Results go to standard output, whereas notes go to standard error and are only printed in text
/// format. If the reader closes standard output, as `head` does, this isn't an error.
///
/// ```
/// use batch::Output;
/// use serde::Serialize;
///
/// #[derive(Serialize)]
/// struct Report {
///     added: u64,
/// }
///
/// let report = Report { added: 3 };
/// let json = true; // the flag `--json`
/// Output::from_json_flag(json).print(&report, format_args!("{} added", report.added))?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// Human-readable text.
    #[default]
    Text,
    /// One line of JSON.
    Json,
}

impl Output {
    /// Returns the format that a `--json` flag selects.
    pub const fn from_json_flag(json: bool) -> Self {
        if json { Self::Json } else { Self::Text }
    }

    /// Prints `value` in JSON mode and `text` otherwise.
    ///
    /// # Errors
    /// Returns an error if writing to standard output fails, for example because the disk is full.
    pub fn print(self, value: &impl Serialize, text: impl Display) -> io::Result<()> {
        unless_closed(self.write(&mut io::stdout().lock(), value, text))
    }

    /// Like [`Self::print`], but writes to `out`.
    ///
    /// # Errors
    /// Returns an error if writing to `out` fails.
    ///
    /// ```
    /// use batch::Output;
    ///
    /// let mut out = Vec::new();
    /// Output::Json.write(&mut out, &[1, 2], "two numbers")?;
    /// Output::Text.write(&mut out, &[1, 2], "two numbers")?;
    /// assert_eq!(out, b"[1,2]\ntwo numbers\n");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn write(
        self,
        out: &mut dyn Write,
        value: &impl Serialize,
        text: impl Display,
    ) -> io::Result<()> {
        match self {
            Self::Json => writeln!(out, "{}", serde_json::to_string(value)?)?,
            Self::Text => writeln!(out, "{text}")?,
        }
        out.flush()
    }

    /// Prints a JSON array in JSON mode, and one line per value otherwise.
    ///
    /// # Errors
    /// Returns an error if writing to standard output fails.
    pub fn print_list<T: Serialize>(
        self,
        values: &[T],
        line: impl Fn(&T) -> String,
    ) -> io::Result<()> {
        unless_closed(self.write_list(&mut io::stdout().lock(), values, line))
    }

    /// Like [`Self::print_list`], but writes to `out`.
    ///
    /// # Errors
    /// Returns an error if writing to `out` fails.
    ///
    /// ```
    /// use batch::Output;
    ///
    /// let mut out = Vec::new();
    /// Output::Json.write_list(&mut out, &[1, 2], |number| format!("number {number}"))?;
    /// Output::Text.write_list(&mut out, &[1, 2], |number| format!("number {number}"))?;
    /// assert_eq!(out, b"[1,2]\nnumber 1\nnumber 2\n");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn write_list<T: Serialize>(
        self,
        out: &mut dyn Write,
        values: &[T],
        line: impl Fn(&T) -> String,
    ) -> io::Result<()> {
        match self {
            Self::Json => writeln!(out, "{}", serde_json::to_string(values)?)?,
            Self::Text => values.iter().try_for_each(|value| writeln!(out, "{}", line(value)))?,
        }
        out.flush()
    }

    /// Logs a note for the operator under the target `notice`. Does nothing in JSON mode.
    pub fn note(self, text: impl Display) {
        if self == Self::Text {
            log::info!(target: "notice", "{text}");
        }
    }
}

fn unless_closed(written: io::Result<()>) -> io::Result<()> {
    written.or_else(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Ok(()),
        _ => Err(error),
    })
}

/// Ignores the error that occurs if a reader such as `head` closes our output.
///
/// # Errors
/// Returns the error from `outcome` unless it is [`io::ErrorKind::BrokenPipe`].
///
/// ```
/// use std::io;
///
/// let closed = Err(io::Error::from(io::ErrorKind::BrokenPipe).into());
/// assert!(batch::until_closed(closed).is_ok());
/// let full = Err(io::Error::from(io::ErrorKind::StorageFull).into());
/// assert!(batch::until_closed(full).is_err());
/// ```
pub fn until_closed(outcome: anyhow::Result<()>) -> anyhow::Result<()> {
    outcome.or_else(|error| match error.downcast_ref::<io::Error>().map(io::Error::kind) {
        Some(io::ErrorKind::BrokenPipe) => Ok(()),
        _ => Err(error),
    })
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    /// A writer that always fails with the given error, like a closed pipe or a full disk.
    struct Failing(io::ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Err(self.0.into())
        }
    }

    #[test]
    fn a_closed_output_succeeds_and_a_full_disk_fails() {
        let print = |kind| {
            let mut out = Failing(kind);
            unless_closed(Output::Text.write(&mut out, &1, "one"))
        };
        assert!(print(io::ErrorKind::BrokenPipe).is_ok());
        assert!(print(io::ErrorKind::StorageFull).is_err());
    }

    #[test]
    fn a_closed_output_is_recognised_below_a_context() {
        let closed = Err::<(), _>(io::Error::from(io::ErrorKind::BrokenPipe));
        assert!(until_closed(closed.context("cannot write standard output")).is_ok());
        assert!(until_closed(Err(anyhow::anyhow!("Broken pipe"))).is_err());
    }
}
