//! Numbering plans, as rows of a table.

/// The numbering plan of a region.
pub(super) struct Patterns {
    pub(super) code: &'static str,
    pub(super) calling_code: &'static str,
    /// The patterns for mobile numbers and fixed lines.
    pub(super) kinds: [KindPatterns; 2],
    /// The pattern for premium, toll-free and other numbers, which must not be generated.
    pub(super) other: &'static str,
    /// The pattern that all numbers match.
    pub(super) general: &'static str,
}

/// The patterns for one kind of number.
pub(super) struct KindPatterns {
    pub(super) pattern: &'static str,
    /// The pattern in the release of the library that validation uses, if it is different.
    pub(super) carried: &'static str,
    /// The length of the example number.
    pub(super) example: usize,
}
