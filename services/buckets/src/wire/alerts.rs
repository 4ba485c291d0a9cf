//! Alerts: the request body, the records and their new files.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use validator::Validate;

use super::files::FileRecord;

/// A search to save.
#[derive(Deserialize, Validate, ToSchema)]
#[schema(example = json!({"name": "Backups of ours", "query": "keywords=example+backup&extensions=sql,gz", "webhook": "https://example.org/hooks/buckets"}))]
pub struct AlertBody {
    /// Its name
    #[validate(length(min = 1, max = 100, message = "must have 1 to 100 characters"))]
    #[serde(default)]
    #[schema(required, min_length = 1, max_length = 100)]
    pub name: String,
    /// Parameters of `searchFiles`, as in a URL; with keywords, buckets or extensions. An expression
    /// needs a text of three characters that every name has. Order, start, limit and scrolling have no
    /// effect
    #[validate(length(max = 8192, message = "must have at most 8192 characters"))]
    #[serde(default)]
    #[schema(required, max_length = 8192)]
    pub query: String,
    /// URL that gets a signed message after each publish with new files
    #[validate(length(max = 1024, message = "must have at most 1024 characters"))]
    #[schema(value_type = Option<String>, max_length = 1024)]
    pub webhook: Option<String>,
}

/// A saved search.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"id": 3, "name": "Backups of ours", "query": "keywords=example+backup&extensions=sql,gz", "webhook": "https://example.org/hooks/buckets", "createdAt": 1795132800}))]
pub struct AlertRecord {
    /// Identifier.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// Parameters of the search.
    pub query: String,
    /// URL of the webhook.
    pub webhook: Option<String>,
    /// Secret that signs the messages; only in the answer that has created it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub secret: Option<String>,
    /// Unix seconds.
    pub created_at: i64,
}

/// Metadata of the alerts of a key.
#[derive(Serialize, ToSchema)]
pub struct AlertsMeta {
    /// Number of alerts.
    pub results: u64,
    /// Alerts that the package allows.
    pub limit: u64,
}

/// All alerts of the caller's key, in the order of their ids.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "meta": {"results": 1, "limit": 100},
    "alerts": [{"id": 3, "name": "Backups of ours", "query": "keywords=example+backup&extensions=sql,gz", "webhook": "https://example.org/hooks/buckets", "createdAt": 1795132800}],
}))]
pub struct AlertsAnswer {
    /// Metadata of the response.
    pub meta: AlertsMeta,
    /// The alerts.
    pub alerts: Vec<AlertRecord>,
}

/// Parameters of the new files of an alert.
#[derive(Default, Deserialize, Validate, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct AlertFilesParameters {
    /// `meta.next` of the answer before; absent: files since the alert was saved
    pub after: Option<String>,
    /// Files per answer
    #[param(value_type = Option<i64>, minimum = 1, maximum = 1000, default = 100)]
    #[validate(range(min = 1, max = 1000, message = "must be between 1 and 1000"))]
    pub limit: Option<u64>,
}

/// Metadata of the new files of an alert.
#[derive(Serialize, ToSchema)]
pub struct AlertFilesMeta {
    /// `after` of the next request, now or later.
    #[schema(example = "1-2101")]
    pub next: String,
    /// Whether there are more files now.
    pub more: bool,
}

/// Files that are new or changed.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "meta": {"next": "1-2101", "more": false},
    "files": [{"id": "2101", "bucket": "example.s3-eu-west-1.amazonaws.com", "bucketId": 6, "filename": "b 2011 15", "fullPath": "a/b 2011 15", "url": "http://example.s3-eu-west-1.amazonaws.com/a/b%202011%2015", "size": 2549108, "type": "aws", "lastModified": 1666666666}],
}))]
pub struct AlertFilesAnswer {
    /// Metadata of the response.
    pub meta: AlertFilesMeta,
    /// The files in the order in which they were added.
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
    /// Number of matching files that the run added or changed.
    pub count: i64,
    /// The first few of those files, minus any that have been removed since.
    pub files: Vec<FileRecord>,
    /// URL for all of them.
    pub link: String,
}
