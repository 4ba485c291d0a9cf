//! Errors of expressions.

/// Maximum size of a compiled expression in bytes.
pub const LARGEST: usize = 1 << 20;

/// The error for an invalid expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExpressionError {
    /// A syntax error.
    #[error("the expression cannot be read at character {position}: {reason}")]
    Syntax {
        /// Describes the error.
        reason: String,
        /// Position of the character, starting at 1.
        position: usize,
    },
    /// The compiled expression would exceed [`LARGEST`].
    #[error("the expression is too big")]
    TooBig,
}
