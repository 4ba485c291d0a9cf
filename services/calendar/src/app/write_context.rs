//! Author and time of a write.

use std::collections::HashMap;

use crate::model::image::ImageFile;
use crate::model::role::User;

/// Images that were fetched for a write, by URL.
pub type FetchedImages = HashMap<String, ImageFile>;

/// The user of a write, and its time in Unix seconds and in the site's local time.
#[derive(Clone, Copy)]
pub struct WriteContext<'a> {
    pub user: &'a User,
    pub now: i64,
    pub now_local: i64,
    /// Images that were fetched for the write. `None` if image URLs are only recorded.
    pub fetched: Option<&'a FetchedImages>,
    /// The id that a new row has at another site. The row gets this id if it is free, and is never
    /// merged with another row of the same name.
    pub wanted_id: Option<i64>,
    /// Whether it counts as a change by a user, which subscriptions leave alone.
    pub by_user: bool,
}
