//! iCalendar recurrence rules (RFC 5545, 3.3.10) in the event's local time.

mod expansion;
mod periods;
mod rule;
mod spoken;
#[cfg(test)]
mod tests;
mod text;

pub use expansion::{Abandoned, Wanted};
pub use rule::Rule;
pub use text::{
    counting_start, is_after_all_dates, plain, repeated_part, replace_until, with_count,
    with_until, without_end,
};
