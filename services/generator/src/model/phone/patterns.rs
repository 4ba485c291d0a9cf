//! Numbering plans in table form.

/// A region's numbering plan.
pub(super) struct Patterns {
    pub(super) code: &'static str,
    pub(super) calling_code: &'static str,
    /// Patterns for mobile numbers and landlines.
    pub(super) kinds: [KindPatterns; 2],
    /// Premium, toll-free and other numbers that must not be generated.
    pub(super) other: &'static str,
    /// A pattern that all numbers match.
    pub(super) general: &'static str,
}

/// Patterns for a single kind of number.
pub(super) struct KindPatterns {
    pub(super) pattern: &'static str,
    /// The same pattern in the library release used for validation, if it differs.
    pub(super) carried: &'static str,
    /// Length of the example number.
    pub(super) example: usize,
}
