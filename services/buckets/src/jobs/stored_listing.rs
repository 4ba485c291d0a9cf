//! Crawled pages stored in the database.

use std::io::Read;

use database::Pools;
use serde::{Deserialize, Serialize};

use super::error::JobError;
use crate::store::crawl_pages;

/// Maximum page size in bytes, the same as for pages from servers.
const LARGEST_PAGE: u64 = 64 << 20;

/// The stored pages of a listing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredListing {
    pub crawl: i64,
    /// Listing number.
    pub listing: i64,
    /// Unix time at which the listing began.
    pub begun_at: i64,
    /// Number of stored pages.
    pub pages: u64,
    /// Why the listing is incomplete, if it is.
    pub broken: Option<String>,
}

impl StoredListing {
    /// Reads a page.
    ///
    /// # Errors
    /// Returns an error if the page is gone because the crawl was removed or has started a new
    /// listing.
    pub(super) fn page(&self, pools: &Pools, number: u64) -> Result<Vec<u8>, JobError> {
        let body = pools
            .read_blocking(|db| crawl_pages::find(db, (self.crawl, self.listing, number as i64)))?;
        let body = body.ok_or_else(|| {
            let crawl = self.crawl;
            JobError::Invalid(format!("the listing of crawl {crawl} is no longer stored"))
        })?;
        let mut page = Vec::new();
        zstd::Decoder::new(&body[..])?.take(LARGEST_PAGE).read_to_end(&mut page)?;
        Ok(page)
    }
}

/// Compresses a page for storage.
pub(super) fn compressed(page: &[u8]) -> Result<Vec<u8>, JobError> {
    Ok(zstd::encode_all(page, 3)?)
}
