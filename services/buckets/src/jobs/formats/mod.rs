//! Listings of buckets in every format that the loader reads.
//!
//! Sources are read as streams: memory is bounded by one entry, whatever the size of the file.

mod azure;
mod csv_table;
mod gcs;
mod ndjson;
mod s3;
mod unpack;
mod values;
mod xml;

use std::io::{BufRead, Read};
use std::path::Path;

use crate::jobs::LoadError;

pub use unpack::{Meter, unpacked};

/// Bytes of a bad line that are kept in the report.
pub const EXCERPT: usize = 200;

/// What the command line says about every source.
#[derive(Clone, Debug, Default)]
pub struct Defaults {
    /// `--bucket`.
    pub bucket: Option<String>,
    /// `--type`.
    pub kind: Option<String>,
    /// `--format`.
    pub format: Option<Format>,
}

/// A listing format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// One JSON object per line.
    Ndjson,
    /// Comma-separated values with a header line.
    Csv,
    /// Tab-separated values with a header line.
    Tsv,
    /// S3 `ListBucketResult`.
    S3,
    /// Azure `EnumerationResults`.
    Azure,
    /// GCS `storage#objects`.
    Gcs,
}

/// A file as a source names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item<'a> {
    /// Line, or number of the entry, counted from 1.
    pub position: u64,
    /// Bucket address as written.
    pub bucket: &'a str,
    /// Bucket type as written.
    pub kind: Option<&'a str>,
    /// Path inside the bucket.
    pub path: &'a str,
    /// Size in bytes.
    pub size: i64,
    /// Unix seconds; 0: unknown.
    pub modified: i64,
}

/// A line or entry that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bad {
    /// Line, or number of the entry, counted from 1.
    pub position: u64,
    /// Why.
    pub reason: String,
    /// The line or entry itself.
    pub content: Vec<u8>,
}

/// What is left out without being bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Skipped {
    /// A common prefix: a folder in a listing.
    Prefix,
    /// An old version, a snapshot or a delete marker.
    Version,
    /// A key that ends in `/` and has no bytes.
    DirectoryMarker,
}

/// Takes what a source holds, in order.
pub trait Sink {
    /// A file.
    fn file(&mut self, item: &Item<'_>) -> Result<(), LoadError>;
    /// A line or entry that cannot be used.
    fn bad(&mut self, bad: Bad) -> Result<(), LoadError>;
    /// Something left out.
    fn skipped(&mut self, what: Skipped) -> Result<(), LoadError>;
    /// A page of a listing of a bucket ended; `truncated`: it says that more follow.
    fn page(&mut self, bucket: &str, kind: Option<&str>, truncated: bool) -> Result<(), LoadError>;
    /// The source is broken here; what came before counts.
    fn broken(&mut self, reason: String) -> Result<(), LoadError>;
}

/// Reads a source, packed or not, and gives its content to the sink.
pub fn read(
    name: &Path,
    source: impl Read,
    defaults: &Defaults,
    sink: &mut dyn Sink,
) -> Result<(), LoadError> {
    let mut input = Meter::new(unpacked(source)?);
    let format = match defaults.format {
        Some(format) => format,
        None => match recognised(&mut input, name) {
            Ok(Some(format)) => format,
            Ok(None) => return sink.broken("the format is not recognised".to_owned()),
            Err(error) => return sink.broken(error.to_string()),
        },
    };
    match format {
        Format::Ndjson => ndjson::read(input, defaults, sink),
        Format::Csv => csv_table::read(input, b',', defaults, sink),
        Format::Tsv => csv_table::read(input, b'\t', defaults, sink),
        Format::Gcs => gcs::read(input, sink),
        Format::Azure => azure::read(input, sink),
        Format::S3 => {
            let Some(bucket) = defaults.bucket.clone().or_else(|| address_in(name)) else {
                return sink.broken(
                    "the listing does not tell its host: give --bucket, or name the file \
                     ADDRESS.xml or its folder ADDRESS"
                        .to_owned(),
                );
            };
            s3::read(input, &bucket, defaults.kind.as_deref(), sink)
        }
    }
}

/// Tells the format by the first bytes; `None` when nothing fits.
fn recognised<R: BufRead>(
    input: &mut Meter<R>,
    name: &Path,
) -> Result<Option<Format>, std::io::Error> {
    let head = input.peek(4_096)?;
    let head = head.strip_prefix("\u{feff}".as_bytes()).unwrap_or(head);
    let text = String::from_utf8_lossy(head.trim_ascii_start()).into_owned();
    Ok(match text.chars().next() {
        Some('<') => {
            Some(if text.contains("<EnumerationResults") { Format::Azure } else { Format::S3 })
        }
        Some('[') => Some(Format::Gcs),
        Some('{') if gcs::is_page(&text) => Some(Format::Gcs),
        Some('{') => Some(Format::Ndjson),
        None => named_format(name).or(Some(Format::Ndjson)),
        Some(_) => {
            let header = text.lines().next().unwrap_or_default();
            match (header.contains('\t'), header.contains(',')) {
                (true, _) => Some(Format::Tsv),
                (_, true) => Some(Format::Csv),
                _ => named_format(name),
            }
        }
    })
}

fn named_format(name: &Path) -> Option<Format> {
    let name = name.to_string_lossy().to_lowercase();
    let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
    match name.rsplit('.').next() {
        Some("csv") => Some(Format::Csv),
        Some("tsv") => Some(Format::Tsv),
        Some("ndjson" | "jsonl") => Some(Format::Ndjson),
        Some("xml") => Some(Format::S3),
        _ => None,
    }
}

/// The bucket address in a file name `ADDRESS.xml[.N]` or in the name of its folder; `/` of an
/// address is written `,`.
fn address_in(name: &Path) -> Option<String> {
    let file = name.file_name()?.to_string_lossy().into_owned();
    let file = file.strip_suffix(".gz").or_else(|| file.strip_suffix(".zst")).unwrap_or(&file);
    let file = match file.rsplit_once('.') {
        Some((rest, digits)) if digits.bytes().all(|byte| byte.is_ascii_digit()) => rest,
        _ => file,
    };
    let folder = name.parent().and_then(Path::file_name).map(|name| name.to_string_lossy());
    let named = file.strip_suffix(".xml").map(str::to_owned);
    named.into_iter().chain(folder.map(|folder| folder.into_owned())).find_map(|name| {
        let address = name.replace(',', "/");
        let known = crate::model::address::Address::parse(&address).ok()?.kind().is_some();
        known.then_some(address)
    })
}
