//! Compares a listing's ETags with the previous complete listing.

use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::model::file_etag::{ChangedFiles, FileEtag};
use crate::store::crawl_etags;
use crate::store::crawls::Crawl;

/// The known ETags and the changed files each get `LOAD_MEMORY_MB` divided by this number.
const SHARE: usize = 8;
/// Minimum memory per pass, in bytes.
const LEAST: usize = 1 << 20;

/// Calls the given function for every ETag in a listing.
type Etags<'a> = &'a dyn Fn(&mut dyn FnMut(FileEtag)) -> Result<(), JobError>;

/// Returns the files in the current listing whose ETag has changed since the last complete listing
/// even though their size and date haven't. The index doesn't store ETags, so it can't detect these
/// changes itself.
///
/// Each crawl compares its own listings, so if two crawls cover the same bucket, both report the
/// change.
pub(super) fn changed_files(context: &JobContext, crawl: &Crawl) -> Result<ChangedFiles, JobError> {
    let (id, known, listed) = (crawl.id, crawl.etags_listing, crawl.listing);
    let bytes = context.pools.read_blocking(|db| crawl_etags::bytes(db, id, known))?;
    let count = usize::try_from(bytes).unwrap_or(0) / FileEtag::BYTES;
    if count == 0 {
        return Ok(ChangedFiles::default());
    }
    let memory = ((context.memory_mb << 20) / SHARE).max(LEAST);
    let passes = (count * size_of::<FileEtag>()).div_ceil(memory) as u64;
    let room =
        Room { known: 2 * memory / size_of::<FileEtag>(), changed: memory / size_of::<u64>() };
    let known = |take: &mut dyn FnMut(FileEtag)| each_etag(context, (id, known), take);
    let listed = |take: &mut dyn FnMut(FileEtag)| each_etag(context, (id, listed), take);
    let Compared { changed, left_out } = compare(&known, &listed, passes, room)?;
    if left_out > 0 {
        log::warn!("crawl {id}: {left_out} known ETags do not fit in memory and are not compared");
    }
    if changed.count() >= room.changed {
        let most = room.changed;
        log::warn!(
            "crawl {id}: at least {most} files have a new ETag but the same size and date; the rest \
             of them count as unchanged"
        );
    }
    Ok(changed)
}

/// Maximum numbers of entries in memory.
#[derive(Clone, Copy)]
struct Room {
    /// Known ETags per pass. A pass usually has half as many, but a server could choose paths and
    /// dates that are all in the same pass, or list a file with millions of ETags.
    known: usize,
    /// Changed files.
    changed: usize,
}

/// The result of a comparison.
struct Compared {
    changed: ChangedFiles,
    /// Number of known ETags for which there was no room.
    left_out: u64,
}

fn each_etag(
    context: &JobContext,
    (crawl, listing): (i64, i64),
    take: &mut dyn FnMut(FileEtag),
) -> Result<(), JobError> {
    let pools = &context.pools;
    for number in pools.read_blocking(|db| crawl_etags::numbers(db, crawl, listing))? {
        let page = pools.read_blocking(|db| crawl_etags::find(db, (crawl, listing, number)))?;
        FileEtag::read(&page.unwrap_or_default()).for_each(&mut *take);
    }
    Ok(())
}

/// Finds files that are in both listings with different ETags. Each of the `passes` keeps a fraction
/// of the known ETags in memory.
fn compare(
    known: Etags<'_>,
    listed: Etags<'_>,
    passes: u64,
    room: Room,
) -> Result<Compared, JobError> {
    let (mut changed, mut left_out) = (Vec::new(), 0);
    for pass in 0..passes {
        let is_in_pass = |etag: &FileEtag| etag.file % passes == pass;
        let mut before: Vec<FileEtag> = Vec::new();
        known(&mut |etag| {
            if !is_in_pass(&etag) {
                return;
            }
            if before.len() < room.known { before.push(etag) } else { left_out += 1 }
        })?;
        before.sort_unstable();
        listed(&mut |etag| {
            if is_in_pass(&etag) && changed.len() < room.changed && is_changed(&before, etag) {
                changed.push(etag.file);
            }
        })?;
    }
    Ok(Compared { changed: ChangedFiles::new(changed), left_out })
}

/// Returns `true` if `known`, sorted in ascending order, includes the file but not with this ETag.
/// A file can have several known ETags if it was overwritten between two pages.
fn is_changed(known: &[FileEtag], etag: FileEtag) -> bool {
    let first = known.partition_point(|one| one.file < etag.file);
    let is_known = known.get(first).is_some_and(|one| one.file == etag.file);
    is_known && known.binary_search(&etag).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Attributes;

    const PATHS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

    fn etag(path: &str, etag: &str) -> FileEtag {
        FileEtag::of(path, &Attributes::default(), etag)
    }

    fn compared(known: &[FileEtag], listed: &[FileEtag], passes: u64, room: Room) -> Compared {
        let known = |take: &mut dyn FnMut(FileEtag)| {
            known.iter().copied().for_each(take);
            Ok(())
        };
        let listed = |take: &mut dyn FnMut(FileEtag)| {
            listed.iter().copied().for_each(take);
            Ok(())
        };
        compare(&known, &listed, passes, room).unwrap()
    }

    fn changed(known: &[FileEtag], listed: &[FileEtag], passes: u64, most: usize) -> Vec<String> {
        let room = Room { known: 10, changed: most };
        let Compared { changed, left_out } = compared(known, listed, passes, room);
        assert_eq!(left_out, 0);
        let is_changed = |path: &&str| changed.contain(path, &Attributes::default());
        PATHS.iter().copied().filter(is_changed).map(str::to_owned).collect()
    }

    #[test]
    fn files_of_both_listings_with_another_etag_have_changed() {
        let known = ["a", "b", "c", "d"].map(|path| etag(path, "1"));
        let listed =
            [etag("e", "1"), etag("d", "2"), etag("c", "1"), etag("b", "3"), etag("f", "2")];
        for passes in 1..5 {
            assert_eq!(changed(&known, &listed, passes, 10), ["b", "d"], "{passes} passes");
        }
        assert_eq!(changed(&known, &listed, 2, 1).len(), 1, "memory is limited");
        assert_eq!(changed(&[], &listed, 1, 10), [""; 0]);
    }

    #[test]
    fn memory_is_limited_although_all_files_are_in_one_pass() {
        const PASSES: u64 = 4;
        let etags = |etag| (0..8).map(|n| FileEtag { file: n * PASSES, etag }).collect::<Vec<_>>();
        let room = Room { known: 5, changed: 10 };
        let Compared { changed, left_out } = compared(&etags(1), &etags(2), PASSES, room);
        assert_eq!((changed.count(), left_out), (5, 3));
    }

    #[test]
    fn etag_of_an_overlapping_page_is_known() {
        let known = [etag("a", "1"), etag("a", "2"), etag("b", "1")];
        assert_eq!(changed(&known, &[etag("a", "2"), etag("b", "1")], 1, 10), [""; 0]);
        assert_eq!(changed(&known, &[etag("a", "1"), etag("a", "3")], 1, 10), ["a"]);
    }
}
