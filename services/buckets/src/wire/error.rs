//! Errors for invalid parameters that format rules can't detect.

/// Error for an invalid parameter.
#[derive(Debug, thiserror::Error)]
pub enum ParameterError {
    /// Any rule that doesn't have its own variant.
    #[error("{text}")]
    Rule {
        /// Parameter name.
        name: &'static str,
        /// The rule that the parameter violates.
        text: String,
    },
    /// The regular expression is invalid.
    #[error("{0}")]
    Regexp(String),
    /// `start` is too large for offset paging.
    #[error("start is too large")]
    OffsetTooLarge,
}

impl ParameterError {
    /// Creates an error for a rule without its own variant.
    pub fn rule(name: &'static str, text: impl Into<String>) -> Self {
        Self::Rule { name, text: text.into() }
    }
}
