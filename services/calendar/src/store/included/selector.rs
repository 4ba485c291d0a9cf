//! Selection of events to read.

/// Selects the events to read.
#[derive(Clone, Copy, Debug)]
pub enum EventSelector<'a> {
    Id(i64),
    /// The event with this stored slug.
    Slug(&'a str),
    /// The events with these ids, in the given order.
    Ids(&'a [i64]),
}
