//! What a rule says of a number.

/// How far a number came before it was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// It has another length.
    Length,
    /// It has other characters.
    Format,
    /// A part of it has no meaning.
    Component,
    /// Its check digit differs.
    Checksum,
}

/// What a rule says of a number whose form is valid.
pub type Outcome = Result<(), Stage>;
