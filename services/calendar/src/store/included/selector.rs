//! Selection of events to read.

/// The events to read.
#[derive(Clone, Copy, Debug)]
pub enum EventSelector<'a> {
    Id(i64),
    /// By stored slug.
    Slug(&'a str),
    /// By ids, in this order.
    Ids(&'a [i64]),
}
