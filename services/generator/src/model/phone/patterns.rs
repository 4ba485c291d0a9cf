//! Numbering plans in table form.

/// A region's numbering plan.
pub(super) struct Patterns {
    pub(super) code: &'static str,
    pub(super) calling_code: &'static str,
    /// Patterns for mobile numbers and landlines.
    pub(super) kinds: [KindPatterns; 2],
    /// A pattern for premium, toll-free and other numbers that we must not generate.
    pub(super) other: &'static str,
    /// A pattern that all numbers match.
    pub(super) general: &'static str,
}

/// Patterns for a single kind of number.
pub(super) struct KindPatterns {
    pub(super) pattern: &'static str,
    /// The same pattern as in the library release that we use for validation, if it differs.
    pub(super) carried: &'static str,
    /// Length of the example number.
    pub(super) example: usize,
}
