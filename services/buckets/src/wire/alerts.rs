//! Request and response types for alerts and their new files.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use validator::Validate;

use super::files::FileRecord;

/// The alert to create, or its new content.
#[derive(Deserialize, Validate, ToSchema)]
#[schema(example = json!({"name": "Backups of ours", "query": "keywords=example+backup&extensions=sql,gz", "webhook": "https://example.org/hooks/buckets"}))]
pub struct AlertBody {
    /// Name of the alert.
    #[validate(length(min = 1, max = 100, message = "must be 1 to 100 characters long"))]
    #[serde(default)]
    #[schema(required, min_length = 1, max_length = 100)]
    pub name: String,
    /// The search, as a URL-encoded query string with parameters of `searchFiles`. It must contain
    /// keywords, buckets or extensions. A regular expression must contain a literal of at least
    /// three characters that every match includes. The order and paging parameters have no effect.
    #[validate(length(max = 8192, message = "must be at most 8192 characters long"))]
    #[serde(default)]
    #[schema(required, max_length = 8192)]
    pub query: String,
    /// URL that receives a signed message after each publish with new files.
    #[validate(length(max = 1024, message = "must be at most 1024 characters long"))]
    #[schema(value_type = Option<String>, max_length = 1024)]
    pub webhook: Option<String>,
}

/// An alert: a saved search that reports new files.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"id": 3, "name": "Backups of ours", "query": "keywords=example+backup&extensions=sql,gz", "webhook": "https://example.org/hooks/buckets", "createdAt": 1795132800}))]
pub struct AlertRecord {
    /// ID of the alert.
    pub id: i64,
    /// Name of the alert.
    pub name: String,
    /// The search, as a URL-encoded query string.
    pub query: String,
    /// URL of the webhook. `null` if the alert does not have one.
    pub webhook: Option<String>,
    /// Secret for verifying the signatures of webhook messages. Only present in the response to the
    /// request that created it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub secret: Option<String>,
    /// When the alert was created, in Unix seconds.
    pub created_at: i64,
}

/// Metadata of an alert list.
#[derive(Serialize, ToSchema)]
pub struct AlertsMeta {
    /// Number of alerts of the API key.
    pub results: u64,
    /// Maximum number of alerts that the package allows.
    pub limit: u64,
}

/// All alerts of the API key, sorted by ID.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "meta": {"results": 1, "limit": 100},
    "alerts": [{"id": 3, "name": "Backups of ours", "query": "keywords=example+backup&extensions=sql,gz", "webhook": "https://example.org/hooks/buckets", "createdAt": 1795132800}],
}))]
pub struct AlertsAnswer {
    /// Metadata of the list.
    pub meta: AlertsMeta,
    /// The alerts, sorted by ID.
    pub alerts: Vec<AlertRecord>,
}

/// Parameters for listing the new files of an alert.
#[derive(Default, Deserialize, Validate, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct AlertFilesParameters {
    /// Cursor: the `meta.next` of the previous response. If omitted, the list starts when the alert
    /// was saved.
    pub after: Option<String>,
    /// Maximum number of files to return.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 1000, default = 100)]
    #[validate(range(min = 1, max = 1000, message = "must be between 1 and 1000"))]
    pub limit: Option<u64>,
}

/// Metadata of a page of new files.
#[derive(Serialize, ToSchema)]
pub struct AlertFilesMeta {
    /// Cursor for the `after` parameter of the next request. It can be stored and used later.
    #[schema(example = "1-2101")]
    pub next: String,
    /// Whether another request may return more files immediately.
    pub more: bool,
}

/// A page of new or changed files.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "meta": {"next": "1-2101", "more": false},
    "files": [{"id": "2101", "bucket": "example.s3-eu-west-1.amazonaws.com", "bucketId": 6, "filename": "b 2011 15", "fullPath": "a/b 2011 15", "url": "http://example.s3-eu-west-1.amazonaws.com/a/b%202011%2015", "size": 2549108, "type": "aws", "lastModified": 1666666666}],
}))]
pub struct AlertFilesAnswer {
    /// Metadata of the list.
    pub meta: AlertFilesMeta,
    /// The files, in the order they were added. If the package shows new buckets only after a
    /// delay, their files follow when it ends.
    pub files: Vec<FileRecord>,
}

/// The body of a webhook message.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AlertEvent {
    /// Always `alert`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Alert id.
    pub alert: i64,
    /// Name of the alert.
    pub name: String,
    /// The run that added the files.
    pub run: i64,
    /// Unix time at which the run was published.
    pub published_at: i64,
    /// Number of matching files that the run added or changed, not counting files removed since
    /// then.
    pub count: i64,
    /// The first 100 matching files.
    pub files: Vec<FileRecord>,
    /// URL that lists all matching files.
    pub link: String,
}
