//! Restores a backup.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::copying::{each_file, is_free, link_or_copy, size_of, sync_folders};
use super::digests::{Digests, add_digests};
use super::manifest::{FORMAT, MANIFEST, Manifest, WITH_DIGESTS};
use crate::copy_atomically;

/// A complete backup that is being restored.
#[derive(Debug)]
pub struct Restore {
    folder: PathBuf,
}

impl Restore {
    /// Opens a backup of a service, and checks its files against the manifest.
    ///
    /// # Errors
    /// Returns an error if the folder doesn't contain a complete backup of this service, or if any
    /// files are missing from the backup or have changed.
    pub fn open(folder: &Path, service: &str) -> anyhow::Result<Self> {
        let path = folder.join(MANIFEST);
        let manifest =
            || -> io::Result<Manifest> { Ok(serde_json::from_slice(&fs::read(&path)?)?) };
        let manifest = manifest().with_context(|| format!("cannot read {}", path.display()))?;
        let named = folder.display();
        if manifest.service != service {
            bail!("{named} is a backup of {}", manifest.service);
        }
        if manifest.format > FORMAT {
            bail!(
                "{named} is a backup of version {}, which this program cannot read",
                manifest.version
            );
        }
        for (part, complete) in &manifest.parts {
            let size = size_of(&folder.join(part))
                .with_context(|| format!("cannot read {}", folder.join(part).display()))?;
            if size != *complete {
                let (size, complete) = (size.exact(), complete.exact());
                bail!("{named}: {part} has {size}, but the backup was complete with {complete}");
            }
        }
        if manifest.format < WITH_DIGESTS {
            log::info!(
                target: "notice",
                "{named} has no digests, so only the sizes of its files were checked"
            );
            return Ok(Self { folder: folder.to_owned() });
        }
        let mut digests = Digests::new();
        for part in manifest.parts.keys() {
            add_digests(folder, part, &mut digests)
                .with_context(|| format!("cannot read {}", folder.join(part).display()))?;
        }
        for (file, digest) in &digests {
            match manifest.digests.get(file) {
                Some(complete) if complete == digest => {}
                Some(_) => bail!("{named}: {file} has changed since the backup was written"),
                None => bail!("{named}: {file} is not in the backup's list"),
            }
        }
        Ok(Self { folder: folder.to_owned() })
    }

    /// Returns the path of a part in the backup.
    pub fn path(&self, part: &str) -> PathBuf {
        self.folder.join(part)
    }

    /// Returns whether the backup contains a part.
    pub fn has(&self, part: &str) -> bool {
        self.path(part).exists()
    }

    /// Checks that each target doesn't exist or is an empty folder, since restoring never replaces
    /// any files.
    ///
    /// # Errors
    /// Returns an error if a target is in use.
    pub fn require_free<'a>(
        &self,
        targets: impl IntoIterator<Item = &'a PathBuf>,
    ) -> anyhow::Result<()> {
        for target in targets {
            if !is_free(target).with_context(|| format!("cannot read {}", target.display()))? {
                let target = target.display();
                bail!(
                    "{target} already exists, and restoring never replaces files: move it away \
                     first"
                );
            }
        }
        Ok(())
    }

    /// Restores a folder of files that never change, by linking or copying them. Does nothing if
    /// the backup doesn't contain the part.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read or written.
    pub fn link(&self, part: &str, to: &Path) -> anyhow::Result<()> {
        self.add(part, to, link_or_copy)
    }

    /// Restores a file, or all files in a folder, by copying. Does nothing if the backup doesn't
    /// contain the part.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read or written.
    pub fn copy(&self, part: &str, to: &Path) -> anyhow::Result<()> {
        let from = self.path(part);
        if from.is_file() {
            let copied = to.parent().map_or(Ok(()), fs::create_dir_all);
            let copied = copied.and_then(|()| copy_atomically(&from, to));
            return copied.with_context(|| format!("cannot write {}", to.display()));
        }
        self.add(part, to, copy_atomically)
    }

    fn add(
        &self,
        part: &str,
        to: &Path,
        add: impl Fn(&Path, &Path) -> io::Result<()>,
    ) -> anyhow::Result<()> {
        if !self.has(part) {
            return Ok(());
        }
        let add_all = || -> io::Result<()> {
            fs::create_dir_all(to)?;
            each_file(&self.path(part), |name, path| add(path, &to.join(name)))?;
            sync_folders(to)
        };
        add_all().with_context(|| format!("cannot write {}", to.display()))
    }
}
