//! Numbering plans as rows of the table.

/// The numbering plan of a region as a row of the table.
pub(super) struct Patterns {
    pub(super) code: &'static str,
    pub(super) calling_code: &'static str,
    /// Mobile numbers and fixed lines.
    pub(super) kinds: [KindPatterns; 2],
    /// Premium, toll-free and other numbers that must not be generated.
    pub(super) other: &'static str,
    /// The pattern that all numbers match.
    pub(super) general: &'static str,
}

/// The patterns of one kind of number.
pub(super) struct KindPatterns {
    pub(super) pattern: &'static str,
    /// The pattern in the library release used by validation, if it differs.
    pub(super) carried: &'static str,
    /// The length of the example number.
    pub(super) example: usize,
}
