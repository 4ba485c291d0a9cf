//! Reads S3 inventories. A manifest lists CSV files without header lines.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::JobError;

/// File name of manifests.
const MANIFEST: &str = "manifest.json";
/// Checksum file next to a manifest.
pub(super) const CHECKSUM: &str = "manifest.checksum";
/// Name of the file in which inventories list their data files for Hive.
const HIVE: &str = "symlink.txt";
/// Maximum size of a manifest, in bytes.
const LARGEST: u64 = 64 << 20;

/// Bucket and columns of an inventory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inventory {
    /// Bucket address.
    pub bucket: String,
    /// Column names.
    pub columns: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Content {
    source_bucket: String,
    file_format: String,
    file_schema: String,
    creation_timestamp: Option<String>,
    files: Vec<DataFile>,
}

#[derive(Deserialize)]
struct DataFile {
    key: String,
    size: Option<u64>,
}

/// A manifest, along with the data files we could find.
#[derive(Debug)]
pub(super) struct Manifest {
    pub(super) path: PathBuf,
    /// Bucket and columns.
    pub(super) inventory: Inventory,
    /// Canonical paths of the data files that exist.
    pub(super) files: Vec<PathBuf>,
    /// Set if the inventory can't be loaded.
    pub(super) fault: Option<String>,
    /// Used to find the newest manifest: creation time in milliseconds since 1970, and the name of
    /// the manifest's folder, which is a date.
    made: (u64, String),
    /// Identifies the inventory configuration: canonical path of its folder, and the data file
    /// folder in the bucket.
    configuration: (PathBuf, Option<PathBuf>),
}

impl Manifest {
    /// Reads a manifest and looks for its data files. Returns `None` if this isn't a manifest.
    pub(super) fn read(path: &Path) -> Result<Option<Self>, JobError> {
        if path.file_name().is_none_or(|name| name != MANIFEST) {
            return Ok(None);
        }
        let failed = |error| JobError::Source { path: path.display().to_string(), error };
        let mut text = Vec::new();
        File::open(path)
            .and_then(|file| file.take(LARGEST).read_to_end(&mut text))
            .map_err(failed)?;
        let Ok(content) = serde_json::from_slice::<Content>(&text) else { return Ok(None) };
        let folder = path.parent().unwrap_or(Path::new(""));
        let resolved = std::fs::canonicalize(path).map_err(failed)?;
        let resolved = resolved.parent().unwrap_or(Path::new("")).to_owned();
        let mut fault = match content.file_format.as_str() {
            "CSV" if content.files.is_empty() => Some("the inventory has no files".to_owned()),
            "CSV" => None,
            other => Some(format!("an inventory in {other} cannot be read: use CSV")),
        };
        let mut files = Vec::new();
        for file in &content.files {
            match find(&[folder, &resolved], file) {
                Ok(found) => files.push(std::fs::canonicalize(found).map_err(failed)?),
                Err(why) => fault = fault.or(Some(why)),
            }
        }
        let columns = content.file_schema.split(',').map(|name| name.trim().to_owned()).collect();
        let bucket = format!("s3://{}", content.source_bucket);
        let made = content.creation_timestamp.and_then(|text| text.parse().ok()).unwrap_or(0);
        let day = resolved.file_name().map(|name| name.to_string_lossy().into_owned());
        let of_data = content.files.first().and_then(|file| Path::new(&file.key).parent());
        Ok(Some(Self {
            path: path.to_owned(),
            inventory: Inventory { bucket, columns },
            files,
            fault,
            made: (made, day.unwrap_or_default()),
            configuration: (
                resolved.parent().unwrap_or(Path::new("")).to_owned(),
                of_data.map(Path::to_owned),
            ),
        }))
    }

    /// Returns an error if the inventory can't be loaded.
    pub(super) fn refused(&self) -> Result<(), JobError> {
        match &self.fault {
            None => Ok(()),
            Some(why) => Err(JobError::Invalid(format!("{}: {why}", self.path.display()))),
        }
    }
}

/// Separates each configuration's newest manifest from all older ones. Prefers manifests that can
/// be loaded and preserves the order.
///
/// # Errors
/// Returns an error if none of a configuration's manifests can be loaded.
pub(super) fn newest(all: Vec<Manifest>) -> Result<(Vec<Manifest>, Vec<Manifest>), JobError> {
    let mut chosen: BTreeMap<_, usize> = BTreeMap::new();
    let is_later = |one: &Manifest, other: &Manifest| {
        (one.fault.is_none(), &one.made) > (other.fault.is_none(), &other.made)
    };
    for (at, manifest) in all.iter().enumerate() {
        let key = (&manifest.inventory.bucket, &manifest.configuration);
        let best = chosen.entry(key).or_insert(at);
        if is_later(manifest, &all[*best]) {
            *best = at;
        }
    }
    let chosen: Vec<usize> = chosen.into_values().collect();
    chosen.iter().try_for_each(|&at| all[at].refused())?;
    let (chosen, others): (Vec<_>, Vec<_>) =
        all.into_iter().enumerate().partition(|(at, _)| chosen.contains(at));
    let plain = |numbered: Vec<(usize, Manifest)>| numbered.into_iter().map(|one| one.1).collect();
    Ok((plain(chosen), plain(others)))
}

/// Returns `true` if this is a list of data files for Hive.
pub(super) fn is_hive(path: &Path) -> bool {
    let mut head = [0; 5];
    path.file_name().is_some_and(|name| name == HIVE)
        && File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok()
        && head == *b"s3://"
}

/// Returns an error unless `manifests` includes the manifest for this Hive list.
pub(super) fn refuse_hive(path: &Path, manifests: &[Manifest]) -> Result<(), JobError> {
    let resolved = std::fs::canonicalize(path)?;
    // `CONFIGURATION/hive/dt=DATE/symlink.txt`
    let configuration = resolved.ancestors().nth(3);
    let is_of = |manifest: &Manifest| Some(&*manifest.configuration.0) == configuration;
    if manifests.iter().any(is_of) {
        return Ok(());
    }
    Err(JobError::Invalid(format!(
        "{}: a Hive list does not name the columns of its inventory: load its {MANIFEST}",
        path.display()
    )))
}

/// Finds a data file by its key in the destination bucket. The local copy can contain the whole
/// bucket or just parts of it.
fn find(folders: &[&Path], file: &DataFile) -> Result<PathBuf, String> {
    let key = Path::new(&file.key);
    let missing = || format!("{} was not found relative to its folder", file.key);
    if !key.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(missing());
    }
    let name = key.file_name().ok_or_else(missing)?;
    let whole = folders.iter().flat_map(|folder| folder.ancestors().map(|above| above.join(key)));
    let nearby = folders.iter().flat_map(|folder| {
        [folder.join(name), folder.join("data").join(name), folder.join("../data").join(name)]
    });
    let found = whole.chain(nearby).find(|path| path.is_file()).ok_or_else(missing)?;
    let size = std::fs::metadata(&found).map_err(|error| error.to_string())?.len();
    match file.size {
        Some(expected) if expected != size => {
            Err(format!("{} has {size} bytes instead of {expected}", file.key))
        }
        _ => Ok(found),
    }
}
