//! A listing page by page.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;

use super::fetch::{Fetcher, RemoteOptions};
use super::listing::Listing;
use crate::jobs::error::JobError;
use crate::jobs::formats::{self, Defaults, Format, Marker, Sink, next_page};

/// Receives what a listing holds, and is told where it goes on.
pub(in crate::jobs) trait PageSink: Sink {
    /// Everything before this marker was handed over.
    fn page_done(&mut self, next: &Marker, bytes: usize) -> Result<(), JobError>;
}

/// Reads a listing from a marker on, or from its beginning.
pub(in crate::jobs) fn read_pages(
    listing: &Listing,
    kind: Option<&str>,
    options: &RemoteOptions,
    from: Option<Marker>,
    sink: &mut dyn PageSink,
) -> Result<(), JobError> {
    let mut fetcher = Fetcher::new(options)?;
    let defaults = Defaults {
        bucket: Some(listing.bucket.clone()),
        kind: kind.map(str::to_owned),
        format: Some(listing.format),
    };
    let mut marker = from;
    let (hasher, mut seen) = (RandomState::new(), HashSet::new());
    loop {
        let page = match fetcher.page(&listing.page(marker.as_ref()))? {
            Ok(page) => page,
            Err(reason) => return sink.broken(reason),
        };
        formats::read(Path::new(&listing.bucket), &page[..], &defaults, sink)?;
        let next = match next_page(listing.format, &page) {
            Ok(next) => next,
            Err(reason) => return sink.broken(reason),
        };
        if listing.format == Format::Gcs {
            // A page without files does not say whose it is.
            sink.page(&listing.bucket, kind, next.is_some())?;
        }
        let Some(next) = next else { return Ok(()) };
        // A server that leads in a circle would be asked for ever.
        if !seen.insert(hasher.hash_one(&next)) {
            return sink.broken("the listing does not go on".to_owned());
        }
        sink.page_done(&next, page.len())?;
        marker = Some(next);
    }
}
