//! Regular expressions with literal quotes, corrections and whole-name matching.

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
