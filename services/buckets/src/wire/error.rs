//! Rules that need more than one parameter, or more than its form.

/// A rule that a parameter breaks.
#[derive(Debug, thiserror::Error)]
pub enum ParameterError {
    /// Any rule that has no variant of its own.
    #[error("{text}")]
    Rule {
        /// Name of the parameter.
        name: &'static str,
        /// The rule.
        text: String,
    },
    /// The regular expression cannot be used.
    #[error("{0}")]
    Regexp(String),
    /// `start` lies beyond the reach of offsets.
    #[error("start is too large")]
    OffsetTooLarge,
}

impl ParameterError {
    /// A rule that has no variant of its own.
    pub fn rule(name: &'static str, text: impl Into<String>) -> Self {
        Self::Rule { name, text: text.into() }
    }
}
