//! Request and response types for crawls.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use validator::Validate;

use crate::model::address::BucketType;

/// Default interval between runs, in seconds.
pub const DEFAULT_EVERY: i64 = 86_400;

/// Minimum number of seconds from the start of one run to the start of the next.
pub const LEAST_EVERY: i64 = 3_600;

/// The crawl to create.
#[derive(Default, Deserialize, Validate, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"url": "https://photos.s3.eu-west-1.amazonaws.com/", "everySeconds": 86400, "prefix": "backup/"}))]
pub struct NewCrawlBody {
    /// URL of the bucket, without query parameters.
    #[validate(length(min = 1, max = 512, message = "must be the URL of a public bucket"))]
    #[schema(required, max_length = 512, example = "https://photos.s3.eu-west-1.amazonaws.com/")]
    #[serde(default)]
    pub url: String,
    /// Interval between the start of one run and the next, in seconds.
    #[validate(range(
        min = 3600,
        max = 31_536_000,
        message = "must be between 3600 and 31536000"
    ))]
    #[schema(value_type = Option<i64>, minimum = 3600, maximum = 31_536_000, default = 86_400)]
    pub every_seconds: Option<i64>,
    /// List only files whose path starts with this prefix. Such a crawl never removes files from
    /// the index.
    #[validate(length(max = 1024, message = "must be at most 1024 characters long"))]
    #[schema(value_type = Option<String>, max_length = 1024, default = "")]
    #[serde(default)]
    pub prefix: String,
    /// When the crawl ends, in Unix seconds. If omitted, it does not end.
    #[validate(range(min = 0, max = 253_402_300_799i64, message = "must be Unix seconds"))]
    #[schema(value_type = Option<i64>, minimum = 0, maximum = 253_402_300_799i64)]
    pub until: Option<i64>,
    /// Listing API of the host. Required if its provider is unknown.
    #[schema(value_type = Option<String>, pattern = "^(s3|azure|gcs)$")]
    pub format: Option<ListingApi>,
    /// Type of the bucket. Required if its provider is unknown.
    #[serde(rename = "type")]
    #[schema(value_type = Option<String>, pattern = "^(aws|azure|dos|gcp|ali)$")]
    pub kind: Option<BucketType>,
}

/// An API for listing buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ListingApi {
    /// Amazon S3
    S3,
    /// Azure Blob Storage
    Azure,
    /// Google Cloud Storage
    Gcs,
}

impl ListingApi {
    /// Name of the listing format.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::S3 => "s3",
            Self::Azure => "azure",
            Self::Gcs => "gcs",
        }
    }
}

/// A crawl of a public bucket.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"id": 7, "url": "https://photos.s3.eu-west-1.amazonaws.com/", "bucket": "photos.s3.eu-west-1.amazonaws.com", "prefix": "backup/", "everySeconds": 86400, "until": null, "paused": false, "running": false, "pagesListed": 0, "dueAt": 1795219200, "lastAt": 1795132800, "outcome": "12 new, 0 changed, 3 gone", "refusedSince": null, "hiddenSince": null, "owner": "acme"}))]
pub struct CrawlRecord {
    /// ID of the crawl.
    pub id: i64,
    /// URL of the bucket.
    pub url: String,
    /// Address of the bucket in the index.
    pub bucket: String,
    /// Prefix of the listed paths. Empty if all files are listed.
    pub prefix: String,
    /// Interval between the start of one run and the next, in seconds.
    pub every_seconds: i64,
    /// When the crawl ends, in Unix seconds. `null` if it does not end.
    pub until: Option<i64>,
    /// Whether the crawl is paused.
    pub paused: bool,
    /// Whether a run is in progress.
    pub running: bool,
    /// Number of listing pages that have been fetched but not published yet.
    pub pages_listed: i64,
    /// When the next run is due, in Unix seconds.
    pub due_at: i64,
    /// When the last run took place, in Unix seconds. `null` before the first run.
    pub last_at: Option<i64>,
    /// Result of the last run. Empty before the first run.
    pub outcome: String,
    /// Time since which the bucket has been private or missing, in Unix seconds. `null` if it is
    /// available.
    pub refused_since: Option<i64>,
    /// Time since which the bucket has been hidden from searches because it was private or missing for
    /// too long, in Unix seconds. `null` if it is visible.
    pub hidden_since: Option<i64>,
    /// Account that added the crawl with its API key. `null` if the operator of the service added it.
    pub owner: Option<String>,
}

/// Metadata of a list of crawls.
#[derive(Serialize, ToSchema)]
pub struct CrawlsMeta {
    /// Number of crawls in the list.
    pub results: u64,
    /// Maximum number of crawls of the API key that the package allows.
    pub limit: u64,
}

/// Crawls, sorted by ID.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "meta": {"results": 1, "limit": 100},
    "crawls": [{"id": 7, "url": "https://photos.s3.eu-west-1.amazonaws.com/", "bucket": "photos.s3.eu-west-1.amazonaws.com", "prefix": "backup/", "everySeconds": 86400, "until": null, "paused": false, "running": false, "pagesListed": 0, "dueAt": 1795219200, "lastAt": 1795132800, "outcome": "12 new, 0 changed, 3 gone", "refusedSince": null, "hiddenSince": null, "owner": "acme"}],
}))]
pub struct CrawlsAnswer {
    /// Metadata of the list.
    pub meta: CrawlsMeta,
    /// The crawls, sorted by ID.
    pub crawls: Vec<CrawlRecord>,
}
