//! Event selectors.

/// Selects which events to read.
#[derive(Clone, Copy, Debug)]
pub enum EventSelector<'a> {
    Id(i64),
    /// The event with this slug, as stored.
    Slug(&'a str),
    /// Events by id, in the given order.
    Ids(&'a [i64]),
}
