//! The result of applying a rule to a number.

/// The check that rejected a number. Variants are in the order of the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// The length is wrong.
    Length,
    /// A character is not allowed.
    Format,
    /// A component is implausible, such as an impossible date.
    Component,
    /// The check digit is wrong.
    Checksum,
}

/// The result of applying a rule to a number that matches its form.
pub type Outcome = Result<(), Stage>;
