//! Backs up everything that a service keeps on disk to a single folder.

mod copying;
mod digests;
mod manifest;
mod restored;

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

pub use restored::Restore;

pub use self::copying::link_or_copy;
use self::copying::{Size, each_file, size_of};
use self::digests::{Digests, add_digests};
use self::manifest::{FORMAT, MANIFEST, Manifest};
use crate::{copy_atomically, sync_folder, write_atomically};

/// The lock file of a backup in progress.
const LOCK: &str = ".lock";

/// A backup that is being written.
///
/// The backup is written to a sibling of the target folder, and the sibling is renamed when it is
/// complete. This way, an interrupted backup can't be mistaken for a complete one. If a backup
/// fails, the sibling is removed. If the process is killed, the next backup to the same folder
/// removes it.
///
/// ```
/// use batch::{Backup, Restore};
///
/// let folder = tempfile::tempdir()?;
/// let (data, copy) = (folder.path().join("data"), folder.path().join("copy"));
/// std::fs::create_dir(&data)?;
/// std::fs::write(data.join("a.png"), "image")?;
/// let backup = Backup::begin(&copy, "calendar", "0.1.0")?;
/// backup.link("media", &data)?;
/// backup.finish()?;
///
/// let other = folder.path().join("other");
/// let restore = Restore::open(&copy, "calendar")?;
/// restore.link("media", &other)?;
/// assert_eq!(std::fs::read(other.join("a.png"))?, b"image");
/// # Ok::<(), anyhow::Error>(())
/// ```
#[derive(Debug)]
pub struct Backup {
    target: PathBuf,
    staging: PathBuf,
    service: String,
    version: String,
    _lock: File,
}

impl Backup {
    /// Starts a backup of a service. The target folder must be empty or not exist yet.
    ///
    /// # Errors
    /// Returns an error if the folder isn't empty or can't be replaced, if its parent isn't
    /// writable, or if another process is writing a backup to it.
    pub fn begin(target: &Path, service: &str, version: &str) -> anyhow::Result<Self> {
        // Strip trailing slashes, because they would make the system follow a link.
        let target = &target.components().collect::<PathBuf>();
        if !copying::is_free(target)? {
            bail!("{} is not empty: choose a new folder", target.display());
        }
        // A sibling of a mount point would be on another disk.
        if copying::is_fixed(target)? {
            bail!(
                "{} is a mount point, a link or this folder: choose a new folder in it",
                target.display()
            );
        }
        let staging = target.with_added_extension("partial");
        let failed = || format!("cannot write {}", staging.display());
        fs::create_dir_all(&staging).with_context(failed)?;
        let lock = File::create(staging.join(LOCK)).with_context(failed)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                bail!("another backup to {} is running", target.display())
            }
            Err(TryLockError::Error(error)) => return Err(error).with_context(failed),
        }
        let backup = Self {
            target: target.to_owned(),
            staging,
            service: service.to_owned(),
            version: version.to_owned(),
            _lock: lock,
        };
        backup
            .remove_remains()
            .with_context(|| format!("cannot empty {}", backup.staging.display()))?;
        Ok(backup)
    }

    /// Returns the folder that the backup is being written to.
    pub fn folder(&self) -> &Path {
        &self.staging
    }

    /// Returns the path of a part while the backup is being written.
    pub fn path(&self, part: &str) -> PathBuf {
        self.staging.join(part)
    }

    /// Adds files that never change, such as files named after their hash. They are hard-linked if
    /// the file system supports it, and copied otherwise. Skips files that are already in the
    /// backup or disappear in the meantime, and also hidden files, since these are unfinished. A
    /// missing folder counts as empty.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read or written.
    pub fn link(&self, part: &str, from: &Path) -> anyhow::Result<()> {
        self.add(part, from, link_or_copy)
    }

    /// Adds some of the files in a folder in the same way as [`link`](Self::link). Use this if
    /// other files in the folder change.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read or written.
    pub fn link_files(&self, part: &str, files: &[PathBuf]) -> anyhow::Result<()> {
        let to = self.path(part);
        let link = |path: &PathBuf| {
            let Some(name) = path.file_name() else { return Ok(()) };
            fs::create_dir_all(&to)?;
            unless_removed(path, link_or_copy(path, &to.join(name)))
        };
        files.iter().try_for_each(link).with_context(|| format!("cannot write {}", to.display()))
    }

    /// Adds a copy of a file, or of all files in a folder. Use this for files that can change
    /// later.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read or written.
    pub fn copy(&self, part: &str, from: &Path) -> anyhow::Result<()> {
        if from.is_file() {
            let to = self.path(part);
            let copied = to.parent().map_or(Ok(()), fs::create_dir_all);
            let copied = copied.and_then(|()| copy_atomically(from, &to));
            return copied.with_context(|| format!("cannot copy {}", from.display()));
        }
        self.add(part, from, copy_atomically)
    }

    fn add(
        &self,
        part: &str,
        from: &Path,
        add: impl Fn(&Path, &Path) -> io::Result<()>,
    ) -> anyhow::Result<()> {
        let to = self.path(part);
        each_file(from, |name, path| {
            fs::create_dir_all(&to)?;
            unless_removed(path, add(path, &to.join(name)))
        })
        .with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))
    }

    /// Removes a part so that it can be written again.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be changed.
    pub fn discard(&self, part: &str) -> io::Result<()> {
        match fs::remove_dir_all(self.path(part)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// Syncs the backup, gives its folder the final name, and reports the size.
    ///
    /// # Errors
    /// Returns an error if the disk is full or fails.
    pub fn finish(self) -> anyhow::Result<()> {
        let Self { target, staging, service, version, .. } = &self;
        let finish = || -> io::Result<Size> {
            let (mut parts, mut digests) = (BTreeMap::new(), Digests::new());
            for entry in fs::read_dir(staging)? {
                let entry = entry?;
                if entry.file_name() != LOCK {
                    let part = entry.file_name().to_string_lossy().into_owned();
                    add_digests(staging, &part, &mut digests)?;
                    parts.insert(part, size_of(&entry.path())?);
                }
            }
            let all = parts.values().copied().sum();
            let (service, version) = (service.clone(), version.clone());
            let manifest = Manifest { format: FORMAT, service, version, parts, digests };
            copying::sync_folders(staging)?;
            write_atomically(&staging.join(MANIFEST), &serde_json::to_vec_pretty(&manifest)?)?;
            // Renaming can replace an empty folder. Remove the lock last. Otherwise, another backup
            // could take the folder for abandoned and empty it.
            fs::rename(staging, target)?;
            fs::remove_file(target.join(LOCK))?;
            sync_folder(target.parent().filter(|folder| *folder != "").unwrap_or(Path::new(".")))?;
            Ok(all)
        };
        let all = finish().with_context(|| format!("cannot write {}", target.display()))?;
        log::info!(target: "notice", "{} is complete: {all}", target.display());
        Ok(())
    }

    fn remove_remains(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.staging)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                fs::remove_dir_all(entry.path())?;
            } else if entry.file_name() != LOCK {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }
}

impl Drop for Backup {
    /// Removes an unfinished backup, since it might be taking up space on a full disk.
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.staging);
    }
}

/// Ignores the error from adding a file that has been removed since its folder was listed.
fn unless_removed(path: &Path, added: io::Result<()>) -> io::Result<()> {
    match added {
        Err(error) if error.kind() == ErrorKind::NotFound && !path.exists() => Ok(()),
        added => added,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Place(tempfile::TempDir);

    impl Place {
        fn new() -> Self {
            let place = Self(tempfile::tempdir().unwrap());
            fs::create_dir(place.at("data")).unwrap();
            fs::write(place.at("data/one"), "1").unwrap();
            fs::write(place.at("data/two"), "22").unwrap();
            place
        }

        fn at(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn begin(&self) -> anyhow::Result<Backup> {
            Backup::begin(&self.at("copy"), "notes", "1.2.3")
        }

        fn finished(&self) -> PathBuf {
            let backup = self.begin().unwrap();
            backup.link("all", &self.at("data")).unwrap();
            backup.copy("own", &self.at("data/one")).unwrap();
            backup.finish().unwrap();
            self.at("copy")
        }
    }

    #[test]
    fn restored_files_are_equal() {
        let place = Place::new();
        let restore = Restore::open(&place.finished(), "notes").unwrap();
        restore.link("all", &place.at("new/all")).unwrap();
        restore.copy("own", &place.at("new/own")).unwrap();
        assert_eq!(fs::read(place.at("new/all/two")).unwrap(), b"22");
        assert_eq!(fs::read(place.at("new/own")).unwrap(), b"1");
        assert!(restore.has("own") && !restore.has("other"));
    }

    #[test]
    fn changes_of_linked_folders_do_not_reach_the_backup() {
        let place = Place::new();
        let copy = place.finished();
        fs::remove_file(place.at("data/two")).unwrap();
        fs::write(place.at("data/two.new"), "other").unwrap();
        fs::rename(place.at("data/two.new"), place.at("data/two")).unwrap();
        assert_eq!(fs::read(copy.join("all/two")).unwrap(), b"22");
    }

    #[test]
    fn backup_replaces_no_files() {
        let place = Place::new();
        place.finished();
        let text = place.begin().unwrap_err().to_string();
        assert_eq!(
            text,
            format!("{} is not empty: choose a new folder", place.at("copy").display())
        );
    }

    #[test]
    fn killed_backup_is_not_a_backup_and_is_replaced() {
        let place = Place::new();
        fs::create_dir_all(place.at("copy.partial/remains")).unwrap();
        fs::write(place.at("copy.partial").join(LOCK), "").unwrap();
        assert!(Restore::open(&place.at("copy"), "notes").is_err());
        let copy = place.finished();
        assert!(!copy.join("remains").exists() && !copy.join(LOCK).exists());
        assert!(!place.at("copy.partial").exists());
    }

    #[test]
    fn failed_backup_leaves_nothing() {
        let place = Place::new();
        let failed = place.begin().unwrap();
        failed.link("all", &place.at("data")).unwrap();
        drop(failed);
        assert!(!place.at("copy.partial").exists() && !place.at("copy").exists());
    }

    #[test]
    fn mount_points_and_links_are_refused_as_targets() {
        let place = Place::new();
        fs::create_dir(place.at("elsewhere")).unwrap();
        std::os::unix::fs::symlink(place.at("elsewhere"), place.at("copy")).unwrap();
        for target in [place.at("copy"), place.at("copy/")] {
            let text = Backup::begin(&target, "notes", "1").unwrap_err().to_string();
            assert!(text.contains("choose a new folder in it"), "{text}");
        }
        assert!(!place.at("copy.partial").exists());
        let fixed = |path: &str| copying::is_fixed(Path::new(path)).unwrap();
        assert!(fixed("/proc") && fixed("/") && fixed("..") && fixed(""));
        assert!(!fixed("src") && !fixed("missing"));
    }

    #[test]
    fn linked_files_are_in_the_backup_as_files() {
        let place = Place::new();
        fs::write(place.at("large"), "content").unwrap();
        std::os::unix::fs::symlink(place.at("large"), place.at("data/three")).unwrap();
        std::os::unix::fs::symlink(place.at("missing"), place.at("data/four")).unwrap();
        let copy = place.finished();
        fs::remove_file(place.at("large")).unwrap();
        assert_eq!(fs::read(copy.join("all/three")).unwrap(), b"content");
        assert!(!copy.join("all/four").exists());
        assert!(!copy.join("all/three").is_symlink());
    }

    #[test]
    fn files_of_a_folder_in_which_others_change_are_linked_by_name() {
        let place = Place::new();
        let backup = place.begin().unwrap();
        let files = [place.at("data/one"), place.at("data/removed")];
        backup.link_files("some", &files).unwrap();
        backup.finish().unwrap();
        fs::write(place.at("data/two"), "grown").unwrap();
        Restore::open(&place.at("copy"), "notes").unwrap();
        assert!(place.at("copy/some/one").exists() && !place.at("copy/some/two").exists());
    }

    #[test]
    fn one_process_writes_a_backup() {
        let place = Place::new();
        let _first = place.begin().unwrap();
        let text = place.begin().unwrap_err().to_string();
        assert!(text.ends_with("is running"), "{text}");
    }

    #[test]
    fn damaged_and_foreign_backups_are_refused() {
        let place = Place::new();
        let copy = place.finished();
        let refusal = |service: &str| Restore::open(&copy, service).unwrap_err().to_string();
        assert!(refusal("other").ends_with("is a backup of notes"), "{}", refusal("other"));
        fs::remove_file(copy.join("all/two")).unwrap();
        let expected = "all has 1 file, 1 B, but the backup was complete with 2 files, 3 B";
        assert!(refusal("notes").ends_with(expected), "{}", refusal("notes"));
        fs::write(copy.join("all/two"), "x".repeat(100_000)).unwrap();
        assert!(refusal("notes").contains("2 files, 100,001 B, but"), "{}", refusal("notes"));
        fs::write(copy.join("all/two"), "2x").unwrap();
        let expected = "all/two has changed since the backup was written";
        assert!(refusal("notes").ends_with(expected), "{}", refusal("notes"));
        fs::write(copy.join("all/two"), "22").unwrap();
        Restore::open(&copy, "notes").unwrap();
        fs::rename(copy.join("all/two"), copy.join("all/three")).unwrap();
        let expected = "all/three is not in the backup's list";
        assert!(refusal("notes").ends_with(expected), "{}", refusal("notes"));
        fs::write(copy.join(MANIFEST), "{").unwrap();
        assert!(refusal("notes").contains("cannot read"), "{}", refusal("notes"));
    }

    #[test]
    fn backup_without_digests_is_restored_only_in_its_own_format() {
        let place = Place::new();
        let copy = place.finished();
        let text = fs::read_to_string(copy.join(MANIFEST)).unwrap();
        let mut manifest: Manifest = serde_json::from_str(&text).unwrap();
        manifest.digests.clear();
        for (format, is_restored) in [(1, true), (FORMAT, false)] {
            manifest.format = format;
            fs::write(copy.join(MANIFEST), serde_json::to_vec(&manifest).unwrap()).unwrap();
            assert_eq!(Restore::open(&copy, "notes").is_ok(), is_restored, "{format}");
        }
    }

    #[test]
    fn restore_replaces_no_files() {
        let place = Place::new();
        let restore = Restore::open(&place.finished(), "notes").unwrap();
        let refusal = restore.require_free([&place.at("data")]).unwrap_err();
        let text = refusal.to_string();
        assert!(text.starts_with(&place.at("data").display().to_string()), "{text}");
        restore.require_free([&place.at("new")]).unwrap();
    }
}
