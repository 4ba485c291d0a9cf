//! Who writes, and when.

use std::collections::HashMap;

use crate::model::image::ImageFile;
use crate::model::role::User;

/// Images that were fetched for a write, by their URL.
pub type FetchedImages = HashMap<String, ImageFile>;

/// Who writes, and when: Unix seconds and the wall clock of the site.
#[derive(Clone, Copy)]
pub struct WriteContext<'a> {
    pub user: &'a User,
    pub now: i64,
    pub now_local: i64,
    /// Images that were fetched for the write; `None` where URLs are only recorded.
    pub fetched: Option<&'a FetchedImages>,
}
