//! The author and time of a change.

use std::collections::HashMap;

use crate::model::image::ImageFile;
use crate::model::role::User;

/// Images fetched for a write request, by URL.
pub type FetchedImages = HashMap<String, ImageFile>;

/// The author and time of a change. `now` is in Unix seconds, `now_local` in the site's local time.
#[derive(Clone, Copy)]
pub struct WriteContext<'a> {
    pub user: &'a User,
    pub now: i64,
    pub now_local: i64,
    /// Images fetched for this request. `None` if image URLs are only recorded.
    pub fetched: Option<&'a FetchedImages>,
    /// The row's id on the site it was imported from. The new row gets the same id if it is free
    /// here, and is never merged with another row of the same name.
    pub wanted_id: Option<i64>,
    /// Whether this counts as a user edit, which subscriptions don't overwrite.
    pub by_user: bool,
}
