//! Reads sources in any format.

use std::io::{BufRead, Read};
use std::path::Path;

use super::defaults::Defaults;
use super::entry::Sink;
use super::format::{Format, recognised};
use super::unpack::{Meter, unpacked};
use super::utf16::as_utf8;
use super::{azure, csv_table, gcs, ls, ndjson, s3};
use crate::jobs::error::JobError;

const NAMELESS: &str = "the listing does not name its host: use --bucket, or name the file \
                        ADDRESS.xml or its folder ADDRESS";

/// Reads a source, decompressing it if necessary, and passes its contents to the sink.
pub fn read(
    name: &Path,
    source: impl Read,
    defaults: &Defaults,
    sink: &mut dyn Sink,
) -> Result<(), JobError> {
    if let Some(bucket) = defaults.bucket.clone().or_else(|| address_in(name)) {
        sink.only_bucket(&bucket);
    }
    match unpacked(name, source).and_then(as_utf8) {
        Ok(unpacked) => read_input(name, Meter::new(unpacked), defaults, sink),
        Err(error) => sink.broken(error.to_string()),
    }
}

/// Reads a page received from a server. Pages aren't decompressed, so they can't expand into
/// something larger.
pub fn read_page(
    name: &Path,
    page: &[u8],
    defaults: &Defaults,
    sink: &mut dyn Sink,
) -> Result<(), JobError> {
    match as_utf8(Box::new(page)) {
        Ok(input) => read_input(name, Meter::new(input), defaults, sink),
        Err(error) => sink.broken(error.to_string()),
    }
}

fn read_input(
    name: &Path,
    mut input: Meter<Box<dyn BufRead + '_>>,
    defaults: &Defaults,
    sink: &mut dyn Sink,
) -> Result<(), JobError> {
    let format = match defaults.format {
        Some(format) => format,
        None => match recognised(&mut input, name) {
            Ok(Some(format)) => format,
            Ok(None) => return sink.broken("the format is not recognised".to_owned()),
            Err(error) => return sink.broken(error.to_string()),
        },
    };
    let kind = defaults.kind.as_deref();
    match format {
        Format::Ndjson => ndjson::read(input, defaults, sink),
        Format::Csv => match csv_table::delimiter(&mut input) {
            Ok(delimiter) => csv_table::read(input, delimiter, defaults, sink),
            Err(error) => sink.broken(error.to_string()),
        },
        Format::Tsv => csv_table::read(input, b'\t', defaults, sink),
        Format::Gcs => gcs::read(input, defaults, None, sink),
        Format::Gsutil => ls::read(input, defaults.bucket.as_deref(), kind, sink),
        Format::S3Api | Format::Rclone | Format::AwsLs | Format::S5cmd => {
            let Some(bucket) = defaults.bucket.clone().or_else(|| address_in(name)) else {
                return sink.broken(NAMELESS.to_owned());
            };
            match format {
                Format::AwsLs | Format::S5cmd => ls::read(input, Some(&bucket), kind, sink),
                _ => gcs::read(input, defaults, Some(bucket), sink),
            }
        }
        Format::Azure => azure::read(input, defaults, sink),
        Format::S3 => {
            let Some(bucket) = defaults.bucket.clone().or_else(|| address_in(name)) else {
                return sink.broken(NAMELESS.to_owned());
            };
            s3::read(input, &bucket, kind, sink)
        }
    }
}

/// Endings of the names of files that have the address of their bucket.
const ENDINGS: [&str; 7] = [".xml", ".json", ".txt", ".ndjson", ".jsonl", ".csv", ".tsv"];

/// Extracts the bucket address from the file name (`ADDRESS.xml[.N]` or another of the endings) or,
/// failing that, from the folder name. In both, `,` is used instead of `/`.
fn address_in(name: &Path) -> Option<String> {
    let file = name.file_name()?.to_string_lossy().into_owned();
    let file = file.strip_suffix(".gz").or_else(|| file.strip_suffix(".zst")).unwrap_or(&file);
    let file = match file.rsplit_once('.') {
        Some((rest, digits)) if digits.bytes().all(|byte| byte.is_ascii_digit()) => rest,
        _ => file,
    };
    let folder = name.parent().and_then(Path::file_name).map(|name| name.to_string_lossy());
    let named = ENDINGS.iter().find_map(|ending| file.strip_suffix(ending));
    let named = named.map(str::to_owned);
    named.into_iter().chain(folder.map(|folder| folder.into_owned())).find_map(|name| {
        let address = name.replace(',', "/");
        let known = crate::model::address::Address::parse(&address).ok()?.kind().is_some();
        known.then_some(address)
    })
}
