//! Dates as people write them: an input text becomes a [`When`], a `When` becomes an instant or a
//! wall clock once a zone and a "now" are known.

mod date_time;
mod grammar;
#[cfg(test)]
mod tests;
mod words;

pub use date_time::{NotADate, PointInTime, When};
