//! Finds the names of removed files in the pages of a crawl, and leaves them out of stored pages.

use std::path::Path;

use serde_json::{Value, json};

use super::listing::listing_of;
use super::publish::stored_listing;
use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::jobs::formats::{
    Bad, Defaults, Item, Part, Sink, Skipped, Taken, exported, named_file, read_page,
};
use crate::jobs::remote::{Listing, Place, format_of};
use crate::model::Attribute;
use crate::store::crawls::Crawl;
use crate::store::removals::{self, Removal};

/// The takedowns that a crawl's files can belong to.
pub(super) struct RemovedNames {
    removed: Vec<Removal>,
    listing: Listing,
    kind: Option<String>,
    has_prefix: bool,
}

impl RemovedNames {
    /// Returns `None` if there are no such takedowns.
    pub(super) fn of(context: &JobContext, crawl: &Crawl) -> Result<Option<Self>, JobError> {
        let (bucket, prefix) = (&crawl.bucket, &crawl.prefix);
        let removed = context.pools.read_blocking(|db| removals::below(db, bucket, prefix))?;
        if removed.is_empty() {
            return Ok(None);
        }
        let (listing, kind) = (listing_of(crawl)?, crawl.kind.clone());
        Ok(Some(Self { removed, listing, kind, has_prefix: !prefix.is_empty() }))
    }

    /// Returns a page without its removed files. Returns `None` if it has none, or if it has
    /// something that can't be written in another form.
    pub(super) fn rest_of(&self, page: &[u8]) -> Result<Option<Vec<u8>>, JobError> {
        let mut rest = Rest { removed: &self.removed, ..Rest::default() };
        self.read(page, &mut rest)?;
        let Rest { files, is_found, is_special, part, is_truncated, .. } = rest;
        let covers_all = match part {
            None | Some(Part::Continued) => true,
            part => self.has_prefix && part == Some(Part::Filtered),
        };
        if !is_found || is_special || !covers_all {
            return Ok(None);
        }
        let text = json!({"Contents": files, "IsTruncated": is_truncated}).to_string();
        Ok(Some(text.into_bytes()))
    }

    /// Erases the name of a page's last entry if the file is removed. The listing then continues at
    /// the server's token.
    pub(super) fn forget_key(&self, place: &mut Place) {
        if place.key.as_ref().is_some_and(|key| is_removed(&self.removed, key)) {
            place.key = None;
        }
    }

    fn read(&self, page: &[u8], sink: &mut dyn Sink) -> Result<(), JobError> {
        let bucket = self.listing.bucket();
        let defaults = Defaults {
            bucket: Some(bucket.to_owned()),
            kind: self.kind.clone(),
            format: Some(format_of(&self.listing, page)),
            columns: None,
        };
        read_page(Path::new(bucket), page, &defaults, sink)
    }
}

fn is_removed(removed: &[Removal], path: &str) -> bool {
    removed.iter().any(|removal| path.starts_with(removal.prefix.as_str()))
}

/// Returns `true` if a stored page contains the name of a file that a takedown has removed. Such
/// pages must not stay in the database while the crawl waits.
pub(super) fn has_removed_names(context: &JobContext, crawl: &Crawl) -> Result<bool, JobError> {
    let Some(names) = RemovedNames::of(context, crawl)? else { return Ok(false) };
    let stored = stored_listing(crawl);
    let mut search = NameSearch { removed: &names.removed, is_found: false };
    for number in 0..stored.pages {
        let page = match stored.page(&context.pools, number) {
            // Another takedown has dropped the pages.
            Err(JobError::Invalid(_)) => return Ok(true),
            page => page?,
        };
        names.read(&page, &mut search)?;
        if search.is_found {
            break;
        }
    }
    Ok(search.is_found)
}

/// Collects the files of a page that are not removed.
#[derive(Default)]
struct Rest<'a> {
    removed: &'a [Removal],
    files: Vec<Value>,
    /// Whether a file is removed.
    is_found: bool,
    /// Whether the page has common prefixes or entries that can't be read.
    is_special: bool,
    part: Option<Part>,
    is_truncated: bool,
}

impl Sink for Rest<'_> {
    fn file(&mut self, item: &Item<'_>) -> Result<Taken, JobError> {
        if is_removed(self.removed, item.path) {
            self.is_found = true;
            return Ok(Ok(()));
        }
        let value = |attribute| exported(attribute, item.attributes[attribute]);
        let modified = match value(Attribute::LastModified) {
            Value::String(date) => date,
            seconds => seconds.to_string(),
        };
        let size = value(Attribute::Size);
        self.files.push(json!({"Key": item.path, "Size": size, "LastModified": modified}));
        Ok(Ok(()))
    }

    fn bad(&mut self, _: Bad) -> Result<(), JobError> {
        self.is_special = true;
        Ok(())
    }

    fn skipped(&mut self, what: Skipped) -> Result<(), JobError> {
        self.is_special |= what == Skipped::Prefix;
        Ok(())
    }

    fn page(&mut self, _: &str, _: Option<&str>, truncated: bool) -> Result<(), JobError> {
        self.is_truncated |= truncated;
        Ok(())
    }

    fn part(&mut self, why: Part) {
        self.part = Some(why);
    }

    fn broken(&mut self, _: String) -> Result<(), JobError> {
        self.is_special = true;
        Ok(())
    }
}

struct NameSearch<'a> {
    removed: &'a [Removal],
    is_found: bool,
}

impl Sink for NameSearch<'_> {
    fn file(&mut self, item: &Item<'_>) -> Result<Taken, JobError> {
        self.is_found |= is_removed(self.removed, item.path);
        Ok(Ok(()))
    }

    /// An entry without a readable name might be a removed file.
    fn bad(&mut self, bad: Bad) -> Result<(), JobError> {
        let named = named_file(&bad.content, None);
        self.is_found |= named.is_none_or(|file| is_removed(self.removed, &file.path));
        Ok(())
    }

    /// The names after this point are unknown.
    fn broken(&mut self, _: String) -> Result<(), JobError> {
        self.is_found = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::other(r#"{"bucket":"b","fullPath":"public/1","size":"x"}"#, false)]
    #[case::removed(r#"{"bucket":"b","fullPath":"secret/1","size":"x"}"#, true)]
    #[case::no_name(r#"{"bucket":"b","size":"1"}"#, false)]
    #[case::unreadable(r#"{"bucket":"b","fullPath":"public"#, true)]
    fn bad_entries_are_compared_by_name(#[case] content: &str, #[case] expected: bool) {
        let removal = Removal {
            id: 1,
            address: "b".to_owned(),
            prefix: "secret/".to_owned(),
            reason: String::new(),
            operator: String::new(),
            requested_at: 1,
            applied_at: Some(1),
            files: 0,
            lifted_at: None,
            lifted_reason: None,
            lifted_by: None,
        };
        let mut search = NameSearch { removed: &[removal], is_found: false };
        let content = content.as_bytes().to_vec();
        let bad = Bad { position: 1, reason: String::new(), content, is_unclear: false };
        search.bad(bad).unwrap();
        assert_eq!(search.is_found, expected);
    }
}
