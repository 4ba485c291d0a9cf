//! The outcome of a rule.

/// The check that rejected a number, from first to last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// The length is wrong.
    Length,
    /// A character is wrong.
    Format,
    /// A component has no meaning.
    Component,
    /// The check digit is wrong.
    Checksum,
}

/// The outcome of a rule for a number whose form is valid.
pub type Outcome = Result<(), Stage>;
