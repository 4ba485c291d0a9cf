//! Dates as people write them. Each is parsed into a [`When`], which resolves to an instant or a
//! local time given a zone and the current time.

mod date_time;
mod grammar;
#[cfg(test)]
mod tests;
mod words;

pub use date_time::{NotADate, PointInTime, When};
