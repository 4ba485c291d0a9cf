//! Reads listings page by page.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::fetch::{Fetcher, RemoteOptions};
use super::listing::Listing;
use super::refusal::Refusal;
use crate::jobs::error::JobError;
use crate::jobs::formats::{
    self, Bad, Defaults, Format, Item, Marker, Part, Sink, Skipped, Taken, named_bucket, next_page,
};

/// Receives a listing's entries, and the places where the listing can be resumed.
pub(in crate::jobs) trait PageSink: Sink {
    /// Called after all entries of a page. `next` is the place to continue from, or `None` after
    /// the last page.
    fn page_done(&mut self, next: Option<&Place>, page: &[u8]) -> Result<(), JobError>;

    /// Called if the first page was refused, or if we aren't allowed to request it.
    fn refused(&mut self, _refusal: Refusal) {}
}

/// A place between two pages of a listing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Selects the next page.
    pub marker: Marker,
    /// Key of the last entry, if known.
    pub key: Option<String>,
}

impl Place {
    /// Returns the marker for resuming the listing in a later run.
    ///
    /// Continues after a key if the API supports it. Tokens are less reliable: a server might
    /// implement them by counting entries, and the bucket might have changed in the meantime.
    fn resumed(&self, format: Format) -> Marker {
        let parameter = match (format, self.marker.parameter.as_str()) {
            (Format::S3, "continuation-token") => "start-after",
            (Format::Gcs, _) => "startOffset",
            _ => return self.marker.clone(),
        };
        let key = self
            .key
            .as_ref()
            .map(|key| Marker { parameter: parameter.to_owned(), value: key.clone() });
        key.unwrap_or_else(|| self.marker.clone())
    }
}

/// Maximum number of empty pages in a row. Providers sometimes return empty pages where files were
/// removed, but far fewer in succession.
const MAX_EMPTY_PAGES: usize = 100;

/// Reads a listing, either from the start or from the given place.
pub(in crate::jobs) fn read_pages(
    listing: &Listing,
    kind: Option<&str>,
    options: &RemoteOptions,
    from: Option<Place>,
    sink: &mut dyn PageSink,
) -> Result<(), JobError> {
    sink.only_bucket(&listing.bucket);
    let mut fetcher = Fetcher::new(options, &listing.bucket)?;
    let listing = &listing.below(&options.prefix);
    let defaults = Defaults {
        bucket: Some(listing.bucket.clone()),
        kind: kind.map(str::to_owned),
        format: Some(listing.format),
        columns: None,
    };
    let mut marker = from.as_ref().map(|place| place.resumed(listing.format));
    let mut known = from.and_then(|place| place.key);
    let mut named = None;
    let (hasher, mut seen, mut empty) = (RandomState::new(), HashSet::new(), 0);
    loop {
        let page = match fetcher.page(&listing.page(marker.as_ref()))? {
            Ok(page) => page,
            Err(refusal) => {
                if marker.is_none() {
                    sink.refused(refusal.clone());
                }
                return sink.broken(refusal.reason);
            }
        };
        if let Some(name) = named_bucket(listing.format, &page) {
            let first = named.get_or_insert_with(|| name.clone());
            if *first != name {
                let why = format!("a page lists the bucket {name} instead of {first}");
                return sink.broken(why);
            }
        }
        let name = Path::new(&listing.bucket);
        // If this page was fetched before, its first few entries might already have been processed.
        let until = match known.take() {
            Some(key) if has_key(name, &page, &defaults, &key)? => Some(key),
            _ => None,
        };
        if !options.prefix.is_empty() {
            sink.part(Part::Filtered);
        }
        let mut entries = Entries { sink, until, last: None, broken: false };
        formats::read_page(name, &page[..], &defaults, &mut entries)?;
        if entries.broken {
            return Ok(());
        }
        // A malicious server could keep sending new markers forever.
        let key = entries.last;
        empty = if key.is_some() { 0 } else { empty + 1 };
        if empty > MAX_EMPTY_PAGES {
            return sink.broken(format!("{MAX_EMPTY_PAGES} consecutive pages are empty"));
        }
        let next = match next_page(listing.format, &page) {
            Ok(next) => next,
            Err(reason) => return sink.broken(reason),
        };
        if listing.format == Format::Gcs {
            // Pages without files don't mention the bucket.
            sink.page(&listing.bucket, kind, next.is_some())?;
        }
        let Some(next) = next else { return sink.page_done(None, &page) };
        // Guards against circular listings.
        if !seen.insert(hasher.hash_one(&next)) {
            return sink.broken("the listing is circular".to_owned());
        }
        let place = Place { marker: next, key };
        sink.page_done(Some(&place), &page)?;
        marker = Some(place.marker);
    }
}

/// Returns `true` if the page has an entry with this key.
fn has_key(name: &Path, page: &[u8], defaults: &Defaults, key: &str) -> Result<bool, JobError> {
    let mut search = KeySearch { key, found: false };
    formats::read_page(name, page, defaults, &mut search)?;
    Ok(search.found)
}

struct KeySearch<'a> {
    key: &'a str,
    found: bool,
}

impl Sink for KeySearch<'_> {
    fn file(&mut self, item: &Item<'_>) -> Result<Taken, JobError> {
        self.found |= item.path == self.key;
        Ok(Ok(()))
    }

    fn bad(&mut self, _: Bad) -> Result<(), JobError> {
        Ok(())
    }

    fn broken(&mut self, _: String) -> Result<(), JobError> {
        Ok(())
    }
}

/// Passes on the entries after a key. Drops the links between pages, which we don't need because we
/// request each page with the previous page's marker.
pub(super) struct Entries<'a> {
    pub(super) sink: &'a mut dyn PageSink,
    /// Key of the last entry to skip.
    pub(super) until: Option<String>,
    /// Key of the last entry so far.
    pub(super) last: Option<String>,
    pub(super) broken: bool,
}

impl Sink for Entries<'_> {
    fn file(&mut self, item: &Item<'_>) -> Result<Taken, JobError> {
        self.last = Some(item.path.to_owned());
        match &self.until {
            Some(until) => {
                if item.path == until {
                    self.until = None;
                }
                Ok(Ok(()))
            }
            None => self.sink.file(item),
        }
    }

    fn bad(&mut self, bad: Bad) -> Result<(), JobError> {
        if self.until.is_some() {
            return Ok(());
        }
        self.last = None;
        self.sink.bad(bad)
    }

    fn skipped(&mut self, what: Skipped) -> Result<(), JobError> {
        if self.until.is_some() {
            return Ok(());
        }
        self.last = None;
        self.sink.skipped(what)
    }

    fn part(&mut self, why: Part) {
        self.sink.part(why);
    }

    fn page(&mut self, bucket: &str, kind: Option<&str>, truncated: bool) -> Result<(), JobError> {
        self.sink.page(bucket, kind, truncated)
    }

    fn broken(&mut self, reason: String) -> Result<(), JobError> {
        self.broken = true;
        self.sink.broken(reason)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(Format::S3, "continuation-token", Some("a"), ("start-after", "a"))]
    #[case(Format::S3, "continuation-token", None, ("continuation-token", "next"))]
    #[case(Format::S3, "marker", Some("a"), ("marker", "next"))]
    #[case(Format::Gcs, "pageToken", Some("a"), ("startOffset", "a"))]
    #[case(Format::Azure, "marker", Some("a"), ("marker", "next"))]
    fn resumed_listings_ask_by_key_where_they_can(
        #[case] format: Format,
        #[case] parameter: &str,
        #[case] key: Option<&str>,
        #[case] expected: (&str, &str),
    ) {
        let marker = Marker { parameter: parameter.to_owned(), value: "next".to_owned() };
        let resumed = Place { marker, key: key.map(str::to_owned) }.resumed(format);
        assert_eq!((&*resumed.parameter, &*resumed.value), expected);
    }
}
