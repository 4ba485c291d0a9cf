//! Looks for the names of removed files in the pages that a crawl has stored.

use std::path::Path;

use super::list::defaults_of;
use super::publish::stored_listing;
use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::jobs::formats::{Bad, Defaults, Item, Sink, Taken, named_file, read_page};
use crate::jobs::remote::Listing;
use crate::store::crawls::Crawl;
use crate::store::removals::{self, Removal};

/// Returns `true` if a stored page contains the name of a file that a takedown has removed. Such
/// pages must not stay in the database while the crawl waits.
pub(super) fn has_removed_names(context: &JobContext, crawl: &Crawl) -> Result<bool, JobError> {
    let (bucket, prefix) = (&crawl.bucket, &crawl.prefix);
    let removed = context.pools.read_blocking(|db| removals::below(db, bucket, prefix))?;
    if removed.is_empty() {
        return Ok(false);
    }
    let listing = Listing::of(&crawl.url, &defaults_of(crawl))?;
    let defaults = Defaults {
        bucket: Some(listing.bucket().to_owned()),
        kind: crawl.kind.clone(),
        format: Some(listing.format()),
        columns: None,
    };
    let stored = stored_listing(crawl);
    let mut search = NameSearch { removed, is_found: false };
    for number in 0..stored.pages {
        let page = match stored.page(&context.pools, number) {
            // Another takedown has dropped the pages.
            Err(JobError::Invalid(_)) => return Ok(true),
            page => page?,
        };
        read_page(Path::new(listing.bucket()), &page, &defaults, &mut search)?;
        if search.is_found {
            break;
        }
    }
    Ok(search.is_found)
}

struct NameSearch {
    removed: Vec<Removal>,
    is_found: bool,
}

impl NameSearch {
    fn is_removed(&self, path: &str) -> bool {
        self.removed.iter().any(|removal| path.starts_with(removal.prefix.as_str()))
    }
}

impl Sink for NameSearch {
    fn file(&mut self, item: &Item<'_>) -> Result<Taken, JobError> {
        self.is_found |= self.is_removed(item.path);
        Ok(Ok(()))
    }

    /// An entry without a readable name might be a removed file.
    fn bad(&mut self, bad: Bad) -> Result<(), JobError> {
        let named = named_file(&bad.content, None);
        self.is_found |= named.is_none_or(|file| self.is_removed(&file.path));
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
        let mut search = NameSearch { removed: vec![removal], is_found: false };
        let content = content.as_bytes().to_vec();
        let bad = Bad { position: 1, reason: String::new(), content, is_unclear: false };
        search.bad(bad).unwrap();
        assert_eq!(search.is_found, expected);
    }
}
