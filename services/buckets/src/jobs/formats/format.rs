//! Listing formats, and how to detect them.

use std::io::BufRead;
use std::path::Path;

use super::lines::separator;
use super::ls_line::{self, Tool};
use super::unpack::Meter;

/// A listing format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One JSON object per line.
    Ndjson,
    /// Comma-separated values with a header.
    Csv,
    /// Tab-separated values with a header.
    Tsv,
    /// S3 `ListBucketResult`
    S3,
    /// Azure `EnumerationResults`
    Azure,
    /// GCS `storage#objects`
    Gcs,
    /// `aws s3api list-objects-v2`
    S3Api,
    /// `rclone lsjson`
    Rclone,
    /// `aws s3 ls`
    AwsLs,
    /// `s5cmd ls`
    S5cmd,
    /// `gsutil ls -l` and `gcloud storage ls -l`
    Gsutil,
}

/// Error for unknown format names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the format must be ndjson, csv, tsv, s3, azure, gcs, s3api, rclone, aws-ls, s5cmd or gsutil"
)]
pub struct UnknownFormat;

impl Format {
    /// All formats.
    pub const ALL: [Self; 11] = [
        Self::Ndjson,
        Self::Csv,
        Self::Tsv,
        Self::S3,
        Self::Azure,
        Self::Gcs,
        Self::S3Api,
        Self::Rclone,
        Self::AwsLs,
        Self::S5cmd,
        Self::Gsutil,
    ];

    /// Name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ndjson => "ndjson",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::S3 => "s3",
            Self::Azure => "azure",
            Self::Gcs => "gcs",
            Self::S3Api => "s3api",
            Self::Rclone => "rclone",
            Self::AwsLs => "aws-ls",
            Self::S5cmd => "s5cmd",
            Self::Gsutil => "gsutil",
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

/// Detects a source's format from its first few bytes or, failing that, from its file name. Returns
/// `None` if the format is unknown.
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
        Some('[') if is_rclone(&text) => Some(Format::Rclone),
        Some('[') if is_contents(&text) => Some(Format::S3Api),
        Some('[') => Some(Format::Gcs),
        // `aws s3api --query 'Contents[]'` of an empty bucket.
        Some('n') if text.trim_end() == "null" => Some(Format::Gcs),
        Some('{') if is_gcs_page(&text) => Some(Format::Gcs),
        Some('{') if is_s3api(&text) => Some(Format::S3Api),
        Some('{') => Some(Format::Ndjson),
        None => named_format(name).or(Some(Format::Ndjson)),
        Some(_) => {
            let header = text.lines().next().unwrap_or_default();
            if separator(header.as_bytes()).is_some() {
                return Ok(Some(Format::Csv));
            }
            let is_table = header.contains([',', ';']);
            match (ls_line::recognised(header), header.contains('\t'), is_table) {
                (Some(Tool::Aws), ..) => Some(Format::AwsLs),
                (Some(Tool::S5cmd), ..) => Some(Format::S5cmd),
                (Some(Tool::Gsutil), ..) => Some(Format::Gsutil),
                (_, true, _) => Some(Format::Tsv),
                (_, _, true) => Some(Format::Csv),
                _ => named_format(name),
            }
        }
    })
}

/// Returns whether this looks like the start of a GCS listing.
fn is_gcs_page(head: &str) -> bool {
    let compact: String = head.chars().filter(|symbol| !symbol.is_whitespace()).collect();
    compact.starts_with('{') && compact.contains(r#""kind":"storage#objects""#)
}

/// Returns whether this array looks like the start of an `rclone` listing.
fn is_rclone(head: &str) -> bool {
    ["\"Path\":", "\"ModTime\":"].iter().all(|field| head.contains(field))
}

/// Returns whether this array looks like the `Contents` of an `aws s3api` listing. Items of GCS name
/// their bucket, and may have custom metadata called `Key`.
fn is_contents(head: &str) -> bool {
    head.contains("\"Key\":") && !head.contains("\"bucket\":") && !head.contains("\"url\":")
}

/// Returns whether this looks like the start of an `aws s3api` listing.
fn is_s3api(head: &str) -> bool {
    let compact: String = head.chars().filter(|symbol| !symbol.is_whitespace()).collect();
    let has_list = ["Contents", "Versions", "DeleteMarkers", "CommonPrefixes"]
        .iter()
        .any(|list| compact.contains(&format!("\"{list}\":[{{")));
    // An object that starts with `bucket` is a line of NDJSON.
    (has_list && !compact.starts_with("{\"bucket\"")) || has_no_list(head)
}

/// Members of an S3 response in JSON format.
pub(super) const S3API_MEMBERS: [&str; 22] = [
    "CommonPrefixes",
    "Contents",
    "ContinuationToken",
    "DeleteMarkers",
    "Delimiter",
    "EncodingType",
    "IsTruncated",
    "KeyCount",
    "KeyMarker",
    "Marker",
    "MaxKeys",
    "Name",
    "NextToken",
    "Prefix",
    "RequestCharged",
    "ResponseMetadata",
    "StartAfter",
    "VersionIdMarker",
    "Versions",
    "NextMarker",
    "NextContinuationToken",
    "NextKeyMarker",
];

/// Returns `true` for a complete S3 response without any lists, e.g. the response for an empty
/// bucket.
fn has_no_list(head: &str) -> bool {
    let objects = serde_json::Deserializer::from_str(head);
    let mut objects = objects.into_iter::<serde_json::Map<String, serde_json::Value>>();
    let Some(Ok(first)) = objects.next() else { return false };
    let is_known = |name: &String| S3API_MEMBERS.contains(&name.as_str());
    // More than one empty object means NDJSON with bad lines.
    first.keys().all(is_known) && (!first.is_empty() || objects.next().is_none())
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
