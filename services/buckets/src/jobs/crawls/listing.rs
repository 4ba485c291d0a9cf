//! How to read the pages of a crawl.

use crate::jobs::error::JobError;
use crate::jobs::formats::Defaults;
use crate::jobs::remote::Listing;
use crate::store::crawls::Crawl;

/// Returns the listing of a crawl's bucket.
pub(super) fn listing_of(crawl: &Crawl) -> Result<Listing, JobError> {
    let defaults = Defaults {
        bucket: crawl.format.is_some().then(|| crawl.bucket.clone()),
        kind: crawl.kind.clone(),
        format: crawl.format.as_deref().and_then(|name| name.parse().ok()),
        columns: None,
    };
    Listing::of(&crawl.url, &defaults)
}
