//! How reads name events.

/// Which events are read.
#[derive(Clone, Copy, Debug)]
pub enum EventSelector<'a> {
    Id(i64),
    /// The stored slug.
    Slug(&'a str),
    /// In the order of the ids.
    Ids(&'a [i64]),
}
