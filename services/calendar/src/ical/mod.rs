//! iCalendar support (RFC 5545): reading and writing calendars, events and time zones.

mod calendar;
mod component;
mod dates;
mod decoded;
mod details;
mod entry;
mod event;
mod expansion;
mod foreign_zones;
mod ignored;
mod length;
mod lines;
mod moment;
mod occurrences;
mod plan;
mod property;
mod range;
mod reader;
mod revision;
mod value_types;
mod windows_zones;
mod zones;

pub use calendar::{Head, begin, end};
pub use component::{Component, Kind as ComponentKind};
pub use details::Details;
pub use entry::{Entry, Occurrence};
pub use event::{FeedContext, Form, event, location, write_event};
pub use expansion::{Expansion, expand};
pub use foreign_zones::ForeignZones;
pub use ignored::{Ignored, Warning};
pub use moment::{EntryContext, Moment};
pub use occurrences::Repetition;
pub use plan::span;
pub use reader::Reader;
pub use revision::{Revisions, created_of, revision_of};
pub use zones::{needs_rules, time_zone};
