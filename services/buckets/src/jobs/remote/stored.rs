//! Reads the stored pages of a listing.

use std::path::Path;

use super::listing::Listing;
use super::pages::{Entries, PageSink, Place};
use crate::jobs::error::JobError;
use crate::jobs::formats::{self, Defaults, Format, Marker, Part};

/// Marker parameter for stored pages. The value is the page number.
const PAGE: &str = "page";

/// Reads stored pages as if they came from a server. Starts at the first page, or at the given
/// place.
pub(in crate::jobs) fn read_stored(
    listing: &Listing,
    (kind, prefix): (Option<&str>, &str),
    (pages, page): (u64, impl Fn(u64) -> Result<Vec<u8>, JobError>),
    from: Option<Place>,
    sink: &mut dyn PageSink,
) -> Result<(), JobError> {
    sink.only_bucket(&listing.bucket);
    let defaults = Defaults {
        bucket: Some(listing.bucket.clone()),
        kind: kind.map(str::to_owned),
        format: Some(listing.format),
        columns: None,
    };
    let name = Path::new(&listing.bucket);
    let first = from.and_then(|place| place.marker.value.parse().ok()).unwrap_or(0);
    for number in first..pages {
        let body = page(number)?;
        if !prefix.is_empty() {
            sink.part(Part::Filtered);
        }
        let mut entries = Entries { sink, until: None, last: None, broken: false };
        formats::read_page(name, &body[..], &defaults, &mut entries)?;
        if entries.broken {
            return Ok(());
        }
        let is_last = number + 1 == pages;
        if listing.format == Format::Gcs {
            // Pages without files don't mention the bucket.
            sink.page(&listing.bucket, kind, !is_last)?;
        }
        let marker = Marker { parameter: PAGE.to_owned(), value: (number + 1).to_string() };
        let next = Place { marker, key: None };
        sink.page_done(Some(&next).filter(|_| !is_last), &body)?;
    }
    Ok(())
}
