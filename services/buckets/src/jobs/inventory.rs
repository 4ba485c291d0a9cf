//! Inventories of S3: a manifest names CSV files without headers.

use std::io::Read;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::JobError;

/// File name of a manifest.
const MANIFEST: &str = "manifest.json";
/// File next to a manifest.
pub(super) const CHECKSUM: &str = "manifest.checksum";
/// Maximum bytes of a manifest.
const LARGEST: u64 = 64 << 20;

/// The columns of a file of an inventory, and its bucket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inventory {
    /// Address of the bucket.
    pub bucket: String,
    /// Names of the columns.
    pub columns: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Manifest {
    source_bucket: String,
    file_format: String,
    file_schema: String,
    files: Vec<DataFile>,
}

#[derive(Deserialize)]
struct DataFile {
    key: String,
}

/// Reads the manifest of an inventory and finds its files. Returns `None` for other files.
pub(super) fn manifest(path: &Path) -> Result<Option<(Inventory, Vec<PathBuf>)>, JobError> {
    if path.file_name().is_none_or(|name| name != MANIFEST) {
        return Ok(None);
    }
    let failed = |error| JobError::Source { path: path.display().to_string(), error };
    let mut text = Vec::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(LARGEST).read_to_end(&mut text))
        .map_err(failed)?;
    let Ok(manifest) = serde_json::from_slice::<Manifest>(&text) else { return Ok(None) };
    let invalid = |why: String| JobError::Invalid(format!("{}: {why}", path.display()));
    let Manifest { source_bucket, file_format, file_schema, files } = manifest;
    if file_format != "CSV" {
        return Err(invalid(format!("an inventory in {file_format} cannot be read: use CSV")));
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let found = files.iter().map(|file| {
        let missing = || invalid(format!("{} is not found from its folder", file.key));
        find(folder, Path::new(&file.key)).ok_or_else(missing)
    });
    let found = found.collect::<Result<_, _>>()?;
    let columns = file_schema.split(',').map(|name| name.trim().to_owned()).collect();
    Ok(Some((Inventory { bucket: format!("s3://{source_bucket}"), columns }, found)))
}

/// Finds a file of an inventory by its key in the destination bucket. The bucket may be copied as a
/// whole or in parts.
fn find(folder: &Path, key: &Path) -> Option<PathBuf> {
    if !key.components().all(|part| matches!(part, Component::Normal(_))) {
        return None;
    }
    let name = key.file_name()?;
    let whole = folder.ancestors().map(|above| above.join(key));
    let nearby =
        [folder.join(name), folder.join("data").join(name), folder.join("../data").join(name)];
    whole.chain(nearby).find(|path| path.is_file())
}
