//! Numbering plans as the table has them.

/// The numbering plan of a region as the table has it.
pub(super) struct Patterns {
    pub(super) code: &'static str,
    pub(super) calling_code: &'static str,
    /// Mobile numbers and fixed lines.
    pub(super) kinds: [KindPatterns; 2],
    /// Premium, toll-free and other numbers that must not be made.
    pub(super) other: &'static str,
    /// What all numbers match.
    pub(super) general: &'static str,
}

/// The patterns of one kind of number.
pub(super) struct KindPatterns {
    pub(super) pattern: &'static str,
    /// The pattern of the release that numbers are checked with, where it differs.
    pub(super) carried: &'static str,
    /// The length of the example.
    pub(super) example: usize,
}
