//! Rules by which an event of iCalendar repeats (RFC 5545, 3.3.10), on the clock of its zone.

mod expansion;
mod periods;
mod rule;
#[cfg(test)]
mod tests;

pub use expansion::Wanted;
pub use rule::Rule;
