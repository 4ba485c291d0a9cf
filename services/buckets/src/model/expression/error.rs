//! Expression errors.

/// Maximum size of a compiled expression, in bytes.
pub const LARGEST: usize = 1 << 20;

/// Error for invalid expressions.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExpressionError {
    /// Syntax error.
    #[error("the expression cannot be parsed at character {position}: {reason}")]
    Syntax {
        /// Error message from the parser.
        reason: String,
        /// Position of the character, starting at 1.
        position: usize,
    },
    /// The compiled expression would be larger than [`LARGEST`].
    #[error("the expression is too large")]
    TooBig,
}
