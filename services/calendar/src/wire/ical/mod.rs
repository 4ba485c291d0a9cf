//! iCalendar (RFC 5545): calendars, events and time zones as lines of text.

mod calendar;
mod event;
mod lines;
mod zones;

pub use calendar::{begin, end};
pub use event::{FeedContext, event};
pub use zones::{needs_rules, time_zone};
