//! Parameter errors that depend on more than the parameter's format.

/// An error for an invalid parameter.
#[derive(Debug, thiserror::Error)]
pub enum ParameterError {
    /// A rule that does not have its own variant.
    #[error("{text}")]
    Rule {
        /// Name of the parameter.
        name: &'static str,
        /// Describes the rule that the parameter breaks.
        text: String,
    },
    /// The regular expression is not valid.
    #[error("{0}")]
    Regexp(String),
    /// `start` exceeds the maximum of offset paging.
    #[error("start is too large")]
    OffsetTooLarge,
}

impl ParameterError {
    /// Creates an error for a rule that does not have its own variant.
    pub fn rule(name: &'static str, text: impl Into<String>) -> Self {
        Self::Rule { name, text: text.into() }
    }
}
