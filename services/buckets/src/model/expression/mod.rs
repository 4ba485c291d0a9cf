//! Regular expressions that match whole names. They support literal quotes, and common mistakes are
//! corrected.

mod compiled;
mod correction;
mod ends;
mod error;
mod source;
mod steps;

pub use compiled::{Expression, compile};
pub use error::ExpressionError;

#[cfg(test)]
mod tests;
