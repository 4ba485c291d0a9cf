//! Crawls: the request body and the records.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use validator::Validate;

use crate::model::address::BucketType;

/// Default interval between runs, in seconds.
pub const DEFAULT_EVERY: i64 = 86_400;

/// Minimum number of seconds between the starts of two runs.
pub const LEAST_EVERY: i64 = 3_600;

/// A public bucket to list regularly.
#[derive(Default, Deserialize, Validate, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"url": "https://photos.s3.eu-west-1.amazonaws.com/", "everySeconds": 86400, "prefix": "backup/"}))]
pub struct NewCrawlBody {
    /// URL of the bucket, without parameters
    #[validate(length(min = 1, max = 512, message = "must be the URL of a public bucket"))]
    #[schema(required, max_length = 512, example = "https://photos.s3.eu-west-1.amazonaws.com/")]
    #[serde(default)]
    pub url: String,
    /// Seconds between the beginnings of two runs
    #[validate(range(
        min = 3600,
        max = 31_536_000,
        message = "must be between 3600 and 31536000"
    ))]
    #[schema(value_type = Option<i64>, minimum = 3600, maximum = 31_536_000, default = 86_400)]
    pub every_seconds: Option<i64>,
    /// List only files whose path begins with this; then no file is removed
    #[validate(length(max = 1024, message = "must have at most 1024 characters"))]
    #[schema(value_type = Option<String>, max_length = 1024, default = "")]
    #[serde(default)]
    pub prefix: String,
    /// Unix seconds after which it does not run
    #[validate(range(min = 0, max = 253_402_300_799i64, message = "must be Unix seconds"))]
    #[schema(value_type = Option<i64>, minimum = 0, maximum = 253_402_300_799i64)]
    pub until: Option<i64>,
    /// API of a host whose provider is unknown
    #[schema(value_type = Option<String>, pattern = "^(s3|azure|gcs)$")]
    pub format: Option<ListingApi>,
    /// Type of a bucket whose provider is unknown
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

/// A crawl of the caller's key.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"id": 7, "url": "https://photos.s3.eu-west-1.amazonaws.com/", "bucket": "photos.s3.eu-west-1.amazonaws.com", "prefix": "backup/", "everySeconds": 86400, "until": null, "paused": false, "running": false, "pagesListed": 0, "dueAt": 1795219200, "lastAt": 1795132800, "outcome": "12 new, 0 changed, 3 gone", "refusedSince": null}))]
pub struct CrawlRecord {
    /// Identifier.
    pub id: i64,
    /// URL of the bucket.
    pub url: String,
    /// Address of the bucket in the index.
    pub bucket: String,
    /// Only files whose path begins with this are listed.
    pub prefix: String,
    /// Seconds between the beginnings of two runs.
    pub every_seconds: i64,
    /// Unix seconds after which it does not run.
    pub until: Option<i64>,
    /// Whether it is paused.
    pub paused: bool,
    /// Whether its bucket is listed now.
    pub running: bool,
    /// Pages that are listed and not published yet.
    pub pages_listed: i64,
    /// Unix seconds of the next run.
    pub due_at: i64,
    /// Unix seconds of the last run.
    pub last_at: Option<i64>,
    /// Outcome of the last run; empty before it.
    pub outcome: String,
    /// Unix seconds since which the bucket is not public or missing.
    pub refused_since: Option<i64>,
}

/// Metadata of the crawls of a key.
#[derive(Serialize, ToSchema)]
pub struct CrawlsMeta {
    /// Number of crawls.
    pub results: u64,
    /// Crawls that the package allows.
    pub limit: u64,
}

/// All crawls of the caller's key, in the order of their ids.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "meta": {"results": 1, "limit": 100},
    "crawls": [{"id": 7, "url": "https://photos.s3.eu-west-1.amazonaws.com/", "bucket": "photos.s3.eu-west-1.amazonaws.com", "prefix": "backup/", "everySeconds": 86400, "until": null, "paused": false, "running": false, "pagesListed": 0, "dueAt": 1795219200, "lastAt": 1795132800, "outcome": "12 new, 0 changed, 3 gone", "refusedSince": null}],
}))]
pub struct CrawlsAnswer {
    /// Metadata of the response.
    pub meta: CrawlsMeta,
    /// The crawls.
    pub crawls: Vec<CrawlRecord>,
}
