//! iCalendar (RFC 5545): reads and writes calendars, events and time zones.

mod calendar;
mod decoded;
mod details;
mod entry;
mod event;
mod foreign_zones;
mod ignored;
mod length;
mod lines;
mod moment;
mod occurrences;
mod property;
mod range;
mod reader;
mod revision;
mod windows_zones;
mod zones;

pub use calendar::{Head, PRODUCT, begin, end};
pub use entry::{Entry, Occurrence};
pub use event::{FeedContext, event, location};
pub use foreign_zones::{ForeignZones, known as known_zone};
pub use ignored::{Ignored, Warning};
pub use moment::EntryContext;
pub use reader::{Component, Kind as ComponentKind, Reader};
pub use revision::{Revisions, created_of, revision_of};
pub use zones::{needs_rules, time_zone};
