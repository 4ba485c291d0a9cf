//! iCalendar recurrence rules (RFC 5545, 3.3.10), in the local time of the event.

mod expansion;
mod periods;
mod rule;
#[cfg(test)]
mod tests;

pub use expansion::{Abandoned, Wanted};
pub use rule::Rule;
