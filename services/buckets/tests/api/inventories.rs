//! S3 inventories.

use std::path::PathBuf;

use buckets::jobs::sources_of;

use crate::app::{Fixture, line};
use crate::trade_formats::{expected, lines};

const BOX: &str = "box.s3.amazonaws.com";
const AT: &str = "copy/prefix/box/daily";

/// Writes a data file. Returns its entry in the manifest.
fn data(fixture: &Fixture, name: &str, rows: &str) -> serde_json::Value {
    fixture.folder.write(format!("{AT}/data/{name}"), rows);
    let key = format!("prefix/box/daily/data/{name}");
    serde_json::json!({ "key": key, "size": rows.len(), "MD5checksum": "x" })
}

/// Writes the manifest of a day.
fn manifest(fixture: &Fixture, day: &str, format: &str, files: &[serde_json::Value]) -> PathBuf {
    fixture.folder.write(format!("{AT}/{day}T01-00Z/manifest.checksum"), "abc");
    let manifest = serde_json::json!({
        "sourceBucket": "box",
        "destinationBucket": "arn:aws:s3:::inventories",
        "version": "2016-11-30",
        "fileFormat": format,
        "fileSchema": "Bucket, Key, VersionId, IsLatest, IsDeleteMarker, Size, LastModifiedDate",
        "files": files,
    });
    let list: String = files
        .iter()
        .map(|file| format!("s3://inventories/{}\n", file["key"].as_str().unwrap()))
        .collect();
    fixture.folder.write(format!("{AT}/hive/dt={day}-01-00/symlink.txt"), list);
    fixture.folder.write(format!("{AT}/{day}T01-00Z/manifest.json"), manifest.to_string())
}

/// Returns the row of a file.
fn row(path: &str, size: u64) -> String {
    format!("\"box\",\"{path}\",\"\",\"true\",\"false\",\"{size}\",\"2022-10-25T02:57:46.000Z\"\n")
}

/// Writes an inventory together with the folders of its destination bucket.
fn inventory(fixture: &Fixture, format: &str) -> PathBuf {
    let first = row("a+b%2Cc/1.txt", 1234)
        + "\"box\",\"old.txt\",\"v\",\"false\",\"false\",\"5\",\"2022-10-25T02:57:46.000Z\"\n\
           \"box\",\"gone.txt\",\"w\",\"true\",\"true\",\"\",\"2022-10-25T02:57:46.000Z\"\n";
    let files = [data(fixture, "1.csv", &first), data(fixture, "2.csv", &row("2.txt", 7))];
    manifest(fixture, "2022-10-25", format, &files)
}

/// Writes an inventory for each day, with one file that is named after the day.
fn days(fixture: &Fixture, days: &[&str]) {
    for day in days {
        let file = data(fixture, &format!("{day}.csv"), &row(day, 1));
        manifest(fixture, day, "CSV", &[file]);
    }
}

fn refused(path: PathBuf) -> String {
    sources_of(&[path]).unwrap_err().to_string()
}

#[test]
fn inventory_is_loaded_by_its_manifest() {
    for whole_folder in [false, true] {
        let fixture = Fixture::new();
        fixture.load_lines(&[&line(BOX, "removed", 1, 1)]);
        let manifest = inventory(&fixture, "CSV");
        let path = if whole_folder { fixture.folder.join("copy") } else { manifest };
        let report = fixture.load(&[path]).unwrap();
        assert_eq!((report.tally.bad, report.tally.skipped_versions), (0, 2));
        let both = [expected(BOX, "aws", "2.txt", 7), expected(BOX, "aws", "a b,c/1.txt", 1234)];
        assert_eq!(lines(&fixture), both);
    }
}

#[test]
fn inventory_without_files_or_in_other_format_is_refused() {
    let fixture = Fixture::new();
    let manifest = inventory(&fixture, "Parquet");
    assert!(refused(manifest).contains("an inventory in Parquet cannot be read"));
    let manifest = inventory(&fixture, "CSV");
    fixture.folder.write(format!("{AT}/data/2.csv"), "\"box\"");
    assert!(refused(manifest.clone()).contains("data/2.csv has 5 bytes instead of 63"));
    std::fs::remove_file(fixture.folder.join(AT).join("data/2.csv")).unwrap();
    assert!(refused(manifest).contains("data/2.csv was not found relative to its folder"));
    assert!(refused(fixture.folder.join("copy")).contains("data/2.csv was not found"));
}

#[test]
fn newest_complete_inventory_of_folder_is_loaded() {
    let fixture = Fixture::new();
    days(&fixture, &["2022-10-25", "2022-10-27", "2022-10-26"]);
    let copy = fixture.folder.join("copy");
    let loaded = || {
        let report = fixture.load(std::slice::from_ref(&copy)).unwrap();
        assert_eq!((report.tally.bad, report.tally.files), (0, 1));
        lines(&fixture)
    };
    assert_eq!(loaded(), [expected(BOX, "aws", "2022-10-27", 1)]);
    std::fs::remove_file(fixture.folder.join(AT).join("data/2022-10-27.csv")).unwrap();
    assert_eq!(loaded(), [expected(BOX, "aws", "2022-10-26", 1)]);
    let oldest = fixture.folder.join(AT).join("2022-10-25T01-00Z/manifest.json");
    fixture.load(&[oldest]).unwrap();
    assert_eq!(lines(&fixture), [expected(BOX, "aws", "2022-10-25", 1)]);
}

#[test]
fn inventories_of_other_configurations_are_loaded_too() {
    let fixture = Fixture::new();
    days(&fixture, &["2022-10-25"]);
    std::fs::rename(fixture.folder.join("copy"), fixture.folder.join("one")).unwrap();
    days(&fixture, &["2022-10-26"]);
    std::fs::rename(fixture.folder.join("copy"), fixture.folder.join("all")).unwrap();
    std::fs::rename(fixture.folder.join("one"), fixture.folder.join("all/one")).unwrap();
    assert_eq!(fixture.load(&[fixture.folder.join("all")]).unwrap().tally.files, 2);
}

#[test]
fn hive_list_without_manifest_is_refused() {
    let fixture = Fixture::new();
    days(&fixture, &["2022-10-25"]);
    let hive = fixture.folder.join(AT).join("hive");
    for path in [hive.join("dt=2022-10-25-01-00/symlink.txt"), hive] {
        let error = refused(path);
        assert!(error.contains("does not name the columns"), "{error}");
        assert!(error.ends_with("load its manifest.json"), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn linked_folders_of_inventories_are_followed() {
    use std::os::unix::fs::symlink;

    let fixture = Fixture::new();
    days(&fixture, &["2022-10-25", "2022-10-26"]);
    let real = fixture.folder.join(AT);
    let links = fixture.folder.join("links");
    std::fs::create_dir(&links).unwrap();
    symlink(&real, links.join("daily")).unwrap();
    symlink(real.join("2022-10-26T01-00Z"), links.join("latest")).unwrap();
    let parts = fixture.folder.join("parts");
    std::fs::create_dir(&parts).unwrap();
    for part in ["data", "hive", "2022-10-25T01-00Z", "2022-10-26T01-00Z"] {
        symlink(real.join(part), parts.join(part)).unwrap();
    }
    for path in [links.clone(), links.join("daily"), links.join("latest"), parts] {
        let report = fixture.load(std::slice::from_ref(&path)).unwrap();
        assert_eq!((report.tally.bad, report.tally.files), (0, 1), "{}", path.display());
        assert_eq!(lines(&fixture), [expected(BOX, "aws", "2022-10-26", 1)]);
    }
}
