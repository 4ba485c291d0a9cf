//! Free-form dates. They are parsed to a [`When`], which resolves to an instant or local time,
//! given a zone and the current time.

mod date_time;
mod grammar;
#[cfg(test)]
mod tests;
mod words;

pub use date_time::{NotADate, PointInTime, When};
