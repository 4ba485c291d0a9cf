//! Telephone numbers of 245 regions, made from the numbering plans of libphonenumber.

mod automaton;
mod region;
mod validate;

pub use automaton::PatternError;
pub use region::{Region, all, find};
pub use validate::{Valid, Validation, validate};
