//! Listing formats and their detection.

use std::io::BufRead;
use std::path::Path;

use super::unpack::Meter;

/// A listing format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// An error for an unknown format name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the format must be ndjson, csv, tsv, s3, azure or gcs")]
pub struct UnknownFormat;

impl Format {
    /// All formats.
    pub const ALL: [Self; 6] =
        [Self::Ndjson, Self::Csv, Self::Tsv, Self::S3, Self::Azure, Self::Gcs];

    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ndjson => "ndjson",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::S3 => "s3",
            Self::Azure => "azure",
            Self::Gcs => "gcs",
        }
    }
}

impl std::str::FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Self, UnknownFormat> {
        let named = |format: &Self| format.name().eq_ignore_ascii_case(text);
        Self::ALL.into_iter().find(named).ok_or(UnknownFormat)
    }
}

/// Detects the format by the first bytes.
pub(super) fn recognised<R: BufRead>(
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
        Some('{') if is_gcs_page(&text) => Some(Format::Gcs),
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

/// Returns true if the first bytes belong to a GCS listing.
fn is_gcs_page(head: &str) -> bool {
    let compact: String = head.chars().filter(|symbol| !symbol.is_whitespace()).collect();
    compact.starts_with('{') && compact.contains(r#""kind":"storage#objects""#)
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
