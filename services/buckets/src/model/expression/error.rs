//! Why an expression cannot be used.

/// Bytes of a compiled expression at most.
pub const LARGEST: usize = 1 << 20;

/// An expression that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExpressionError {
    /// It cannot be parsed.
    #[error("the expression cannot be read at character {position}: {reason}")]
    Syntax {
        /// What is wrong.
        reason: String,
        /// The character at fault, counted from 1.
        position: usize,
    },
    /// Compiled, it would need more than [`LARGEST`] bytes.
    #[error("the expression is too big")]
    TooBig,
}
