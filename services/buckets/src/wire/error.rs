//! Errors of parameters that depend on more than their format.

/// An error for an invalid parameter.
#[derive(Debug, thiserror::Error)]
pub enum ParameterError {
    /// A rule without its own variant.
    #[error("{text}")]
    Rule {
        /// Name of the parameter.
        name: &'static str,
        /// The rule.
        text: String,
    },
    /// The regular expression is not valid.
    #[error("{0}")]
    Regexp(String),
    /// `start` exceeds the reach of offset paging.
    #[error("start is too large")]
    OffsetTooLarge,
}

impl ParameterError {
    /// Creates an error for a rule without its own variant.
    pub fn rule(name: &'static str, text: impl Into<String>) -> Self {
        Self::Rule { name, text: text.into() }
    }
}
