//! Finds the sources for the paths given to a command: their order, folders and inventories.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::error::JobError;
use super::inventory::{self, CHECKSUM, Manifest};
use super::sources::{STDIN, Source, scheme_of, url_of};

/// File that Spark and Hadoop write next to complete data files. It doesn't contain data.
const COMPLETE: &str = "_SUCCESS";

/// Maximum path length to show in a notice, in characters.
const LONGEST_SHOWN: usize = 160;

/// Finds the sources for the paths given to a command. Folders are read recursively and in order of
/// file name, with numbers in order of value. Dotfiles in folders and `_SUCCESS` files are silently
/// skipped; pipes, sockets, devices, broken links and circular links are skipped with a notice. If a
/// folder has several inventories with the same configuration, only the newest complete one is read.
pub fn sources_of(paths: &[PathBuf]) -> Result<Vec<Source>, JobError> {
    let mut found = Found::default();
    for path in paths {
        if path.is_dir() {
            let mut files = Vec::new();
            walk(path, &mut Vec::new(), &mut files)?;
            found.add_folder(files)?;
        } else {
            found.add(path)?;
        }
    }
    let mut sources = found.without_data();
    if sources.is_empty() {
        return Err(JobError::Invalid("there is nothing to load".to_owned()));
    }
    sort_pages(&mut sources);
    Ok(sources)
}

/// Sorts numbered files by number: shells sort by name and pass `page-10.xml` before `page-2.xml`.
/// Files that aren't sorted by name keep their order, except for listing pages (`ADDRESS.xml.N`).
/// Other sources keep their positions.
fn sort_pages(sources: &mut [Source]) {
    let mut series: HashMap<Vec<u8>, Vec<usize>> = HashMap::new();
    for (place, source) in sources.iter().enumerate() {
        if source.url().is_none() && source.inventory.is_none() {
            series.entry(without_numbers(&source.path)).or_default().push(place);
        }
    }
    for (name, places) in series {
        let is_by_name =
            places.is_sorted_by(|&one, &other| sources[one].path <= sources[other].path);
        if places.len() < 2 || !(is_by_name || name.ends_with(b".xml.#")) {
            continue;
        }
        let mut sorted: Vec<Source> = places.iter().map(|&place| sources[place].clone()).collect();
        sorted.sort_by(|one, other| natural_order(unpacked(&one.path), unpacked(&other.path)));
        for (place, source) in places.into_iter().zip(sorted) {
            sources[place] = source;
        }
    }
}

/// Returns the path without a `.gz` or `.zst` extension.
fn unpacked(path: &Path) -> &[u8] {
    let path = path.as_os_str().as_encoded_bytes();
    path.strip_suffix(b".gz").or_else(|| path.strip_suffix(b".zst")).unwrap_or(path)
}

/// Returns the path with each number in the file name replaced by a `#`.
fn without_numbers(path: &Path) -> Vec<u8> {
    let path = unpacked(path);
    let name = path.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
    let mut shape = path[..name].to_vec();
    for &byte in &path[name..] {
        match (byte.is_ascii_digit(), shape.last()) {
            (true, Some(b'#')) => {}
            (true, _) => shape.push(b'#'),
            (false, _) => shape.push(byte),
        }
    }
    shape
}

/// Compares names byte by byte, except for numbers, which are compared by value.
fn natural_order(one: &[u8], other: &[u8]) -> Ordering {
    let number = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (mut left, mut right) = (one, other);
    loop {
        let (digits, others) = (number(left), number(right));
        let order = if digits > 0 && others > 0 {
            let (value, compared) = (significant(&left[..digits]), significant(&right[..others]));
            (left, right) = (&left[digits..], &right[others..]);
            value.len().cmp(&compared.len()).then_with(|| value.cmp(compared))
        } else {
            let order = left.first().cmp(&right.first());
            if order.is_eq() && left.is_empty() {
                return one.cmp(other);
            }
            (left, right) = (left.get(1..).unwrap_or_default(), right.get(1..).unwrap_or_default());
            order
        };
        if order.is_ne() {
            return order;
        }
    }
}

/// Strips leading zeros.
fn significant(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    &digits[zeros..]
}

/// Sources found so far.
#[derive(Default)]
struct Found {
    sources: Vec<Source>,
    /// Canonical paths of inventory data files, including inventories that aren't read.
    data: HashSet<PathBuf>,
}

impl Found {
    /// Adds a file. If it's a manifest, adds its data files instead.
    fn add(&mut self, path: &Path) -> Result<(), JobError> {
        match Manifest::read(path)? {
            Some(manifest) => self.add_inventory(&manifest),
            None => self.add_file(path, &[]),
        }
    }

    fn add_folder(&mut self, files: Vec<PathBuf>) -> Result<(), JobError> {
        let (mut manifests, mut others) = (Vec::new(), Vec::new());
        for path in files {
            match Manifest::read(&path)? {
                Some(manifest) => manifests.push(manifest),
                None => others.push(path),
            }
        }
        others.iter().try_for_each(|path| self.add_file(path, &manifests))?;
        let (newest, older) = inventory::newest(manifests)?;
        newest.iter().try_for_each(|manifest| self.add_inventory(manifest))?;
        for Manifest { path, files, fault, .. } in older {
            let reason = fault.unwrap_or_else(|| "another inventory is newer".to_owned());
            report_skipped(&path, &reason);
            self.data.extend(files);
        }
        Ok(())
    }

    fn add_inventory(&mut self, manifest: &Manifest) -> Result<(), JobError> {
        manifest.refused()?;
        for file in &manifest.files {
            if self.data.insert(file.clone()) {
                let inventory = Some(manifest.inventory.clone());
                self.sources.push(Source { inventory, ..Source::of(file)? });
            }
        }
        Ok(())
    }

    fn add_file(&mut self, path: &Path, manifests: &[Manifest]) -> Result<(), JobError> {
        if path.file_name().is_some_and(|name| name == COMPLETE) {
            return Ok(());
        }
        if inventory::is_hive(path) {
            return inventory::refuse_hive(path, manifests);
        }
        self.sources.push(Source::of(&absolute(path)?)?);
        Ok(())
    }

    /// Returns the sources, minus any data files that were also found as ordinary files.
    fn without_data(self) -> Vec<Source> {
        let Self { mut sources, data } = self;
        if !data.is_empty() {
            let is_data =
                |path: &Path| fs::canonicalize(path).is_ok_and(|path| data.contains(&path));
            sources.retain(|one| one.inventory.is_some() || !is_data(&one.path));
        }
        sources
    }
}

/// Collects the files in a folder. `above` has the canonical paths of its parents.
fn walk(folder: &Path, above: &mut Vec<PathBuf>, files: &mut Vec<PathBuf>) -> Result<(), JobError> {
    let failed = |error| JobError::Source { path: folder.display().to_string(), error };
    let place = fs::canonicalize(folder).map_err(failed)?;
    if above.contains(&place) {
        report_skipped(folder, "it is a circular link");
        return Ok(());
    }
    above.push(place);
    let entries = fs::read_dir(folder).map_err(failed)?;
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()
        .map_err(failed)?;
    paths.sort_by(|one, other| {
        let (one, other) = (one.as_os_str(), other.as_os_str());
        natural_order(one.as_encoded_bytes(), other.as_encoded_bytes())
    });
    for path in paths {
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if hidden || path.file_name().is_some_and(|name| name == CHECKSUM) {
            continue;
        }
        match fs::metadata(&path) {
            Ok(meta) if meta.is_dir() => walk(&path, above, files)?,
            Ok(meta) if meta.is_file() => files.push(path),
            // Opening a pipe would block until there's a writer.
            Ok(_) => report_skipped(&path, "it is neither a file nor a folder"),
            Err(error) if path.is_symlink() && error.kind() != ErrorKind::PermissionDenied => {
                report_skipped(&path, "the link is broken");
            }
            Err(error) => return Err(JobError::Source { path: path.display().to_string(), error }),
        }
    }
    above.pop();
    Ok(())
}

fn report_skipped(path: &Path, reason: &str) {
    let shown: String = path.display().to_string().chars().take(LONGEST_SHOWN).collect();
    log::warn!(target: "notice", "{shown} is skipped: {reason}");
}

/// Makes a path absolute. The run might be resumed from a different folder.
fn absolute(path: &Path) -> Result<PathBuf, JobError> {
    if path == Path::new(STDIN) || url_of(path).is_some() || scheme_of(path).is_some() {
        Ok(path.to_owned())
    } else {
        Ok(std::path::absolute(path)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_in_order_of_number() {
        let folder = tempfile::tempdir().unwrap();
        let names =
            ["a.xml.10", "a.xml.2.gz", "a.xml.1", "a.xml", "b.xml.3", "b.xml.11", "c.xml.x"];
        let paths = names.map(|name| folder.path().join(name));
        paths.iter().for_each(|path| fs::write(path, "1").unwrap());
        let named = |paths: &[PathBuf]| {
            let sources = sources_of(paths).unwrap();
            let name =
                |source: Source| source.path.file_name().unwrap().to_str().unwrap().to_owned();
            sources.into_iter().map(name).collect::<Vec<String>>()
        };
        assert_eq!(
            named(&[folder.path().to_owned()]),
            ["a.xml", "a.xml.1", "a.xml.2.gz", "a.xml.10", "b.xml.3", "b.xml.11", "c.xml.x"]
        );
        assert_eq!(
            named(&paths),
            ["a.xml.1", "a.xml.2.gz", "a.xml.10", "a.xml", "b.xml.3", "b.xml.11", "c.xml.x"]
        );
    }

    #[test]
    fn marker_next_to_complete_data_is_not_a_source() {
        let folder = tempfile::tempdir().unwrap();
        let [data, marker] = ["part-00000.json", "_SUCCESS"].map(|name| folder.path().join(name));
        fs::write(&data, "1").unwrap();
        fs::write(&marker, "").unwrap();
        let whole = [folder.path().to_owned()];
        // The shell lists the marker, too.
        for paths in [&whole[..], &[marker.clone(), data.clone()]] {
            let sources = sources_of(paths).unwrap();
            assert_eq!(sources.iter().map(|one| &one.path).collect::<Vec<_>>(), [&data]);
        }
        assert!(sources_of(&[marker]).is_err());
    }

    #[test]
    fn numbers_in_names_are_in_order_of_value() {
        let folder = tempfile::tempdir().unwrap();
        let names = ["page.xml", "page-1.xml", "page-2.xml.gz", "page-010.xml", "page-12.xml"];
        let paths = names.map(|name| folder.path().join(name));
        paths.iter().for_each(|path| fs::write(path, "1").unwrap());
        let named = |paths: &[PathBuf]| {
            let sources = sources_of(paths).unwrap();
            let name =
                |source: Source| source.path.file_name().unwrap().to_str().unwrap().to_owned();
            sources.into_iter().map(name).collect::<Vec<String>>()
        };
        let by_value = ["page-1.xml", "page-2.xml.gz", "page-010.xml", "page-12.xml", "page.xml"];
        assert_eq!(named(&[folder.path().to_owned()]), by_value);
        let mut sorted = paths.clone();
        sorted.sort();
        assert_eq!(named(&sorted), by_value, "as from the shell");
        let [_, first, second, tenth, _] = paths;
        assert_eq!(
            named(&[second, first, tenth]),
            ["page-2.xml.gz", "page-1.xml", "page-010.xml"],
            "the operator chose another order"
        );
    }

    #[test]
    fn numbers_are_compared_by_value_and_the_rest_by_byte() {
        let sorted = ["", "a", "a.1", "a.2", "a.10", "a.10.b", "a1", "a01b", "a2", "aa", "b"];
        for (place, one) in sorted.iter().enumerate() {
            for (at, other) in sorted.iter().enumerate() {
                let order = natural_order(one.as_bytes(), other.as_bytes());
                assert_eq!(order, place.cmp(&at), "{one} and {other}");
            }
        }
    }
}
