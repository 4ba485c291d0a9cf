//! Response with the buckets, extensions and types in a search result.

use serde::Serialize;
use utoipa::ToSchema;

use super::files::FileEcho;

/// Metadata of the response.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FacetMeta {
    /// Exact number of matching files.
    pub results: u64,
    /// Exact number of buckets with matching files.
    pub buckets: u64,
    /// Exact number of distinct extensions among the matching files.
    pub extensions: u64,
    /// How the package limits these results. Absent if it does not limit them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub notice: Option<String>,
    /// How the regular expression was corrected. Absent if it was not corrected.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub regex_notice: Option<String>,
}

/// A bucket with matching files.
#[derive(Serialize, ToSchema)]
pub struct BucketFacet {
    /// ID of the bucket.
    pub id: u64,
    /// Address of the bucket.
    pub bucket: String,
    /// Type of the bucket.
    #[serde(rename = "type")]
    #[schema(rename = "type", example = "aws")]
    pub kind: &'static str,
    /// Exact number of matching files in the bucket.
    pub files: u64,
}

/// A file extension with its number of matching files.
#[derive(Serialize, ToSchema)]
pub struct ExtensionFacet {
    /// The extension in lower case, without a leading dot. A file with several extensions counts
    /// for the shortest one.
    #[schema(example = "pdf")]
    pub extension: String,
    /// Exact number of matching files with this extension.
    pub files: u64,
}

/// A bucket type with its number of matching files.
#[derive(Serialize, ToSchema)]
pub struct TypeFacet {
    /// The bucket type.
    #[serde(rename = "type")]
    #[schema(rename = "type", example = "aws")]
    pub kind: &'static str,
    /// Exact number of matching files in buckets of this type.
    pub files: u64,
}

/// File counts per bucket, extension and bucket type, each sorted by descending number of files.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "query": {"keywords": "backup", "regexp": false, "noautocorrect": false, "buckets": [], "excludedBuckets": [], "extensions": [], "stopExtensions": [], "fullPath": false, "lastModifiedFrom": null, "lastModifiedTo": null, "sizeFrom": null, "sizeTo": null, "order": "", "direction": "", "start": 0, "limit": 2},
    "meta": {"results": 905, "buckets": 12, "extensions": 31},
    "buckets": [{"id": 6, "bucket": "example.s3-eu-west-1.amazonaws.com", "type": "aws", "files": 610}, {"id": 2, "bucket": "photos.fra1.digitaloceanspaces.com", "type": "dos", "files": 104}],
    "extensions": [{"extension": "gz", "files": 466}, {"extension": "sql", "files": 220}],
    "types": [{"type": "aws", "files": 801}, {"type": "dos", "files": 104}],
}))]
pub struct FacetsAnswer {
    /// The request, as the service interpreted it.
    pub query: FileEcho,
    /// Metadata of the response.
    pub meta: FacetMeta,
    /// The buckets with the most matching files.
    pub buckets: Vec<BucketFacet>,
    /// The extensions with the most matching files.
    pub extensions: Vec<ExtensionFacet>,
    /// All bucket types with matching files.
    pub types: Vec<TypeFacet>,
}
