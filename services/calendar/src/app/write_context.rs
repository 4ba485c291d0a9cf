//! Author and time of a write.

use std::collections::HashMap;

use crate::model::image::ImageFile;
use crate::model::role::User;

/// Images that were fetched for a write, by URL.
pub type FetchedImages = HashMap<String, ImageFile>;

/// Author and time of a write: Unix seconds and the local time of the site.
#[derive(Clone, Copy)]
pub struct WriteContext<'a> {
    pub user: &'a User,
    pub now: i64,
    pub now_local: i64,
    /// Images that were fetched for the write; `None` if URLs are only recorded.
    pub fetched: Option<&'a FetchedImages>,
    /// The id of a new row at another site. The row gets this id if it is free, and is never merged with
    /// another of its name.
    pub wanted_id: Option<i64>,
}
