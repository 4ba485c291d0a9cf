//! Response with the buckets, extensions and types in a search result.

use serde::Serialize;
use utoipa::ToSchema;

use super::files::FileEcho;

/// Metadata of the response.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FacetMeta {
    /// Matching files, exactly.
    pub results: u64,
    /// Buckets with matching files, exactly.
    pub buckets: u64,
    /// Different extensions of matching files, exactly.
    pub extensions: u64,
    /// Limits of the caller's package.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub notice: Option<String>,
    /// Notice about a corrected expression.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub regex_notice: Option<String>,
}

/// A bucket with matching files.
#[derive(Serialize, ToSchema)]
pub struct BucketFacet {
    /// Identifier of the bucket.
    pub id: u64,
    /// Address of the bucket.
    pub bucket: String,
    /// Type of the bucket.
    #[serde(rename = "type")]
    #[schema(rename = "type", example = "aws")]
    pub kind: &'static str,
    /// Its matching files, exactly.
    pub files: u64,
}

/// An extension of matching files.
#[derive(Serialize, ToSchema)]
pub struct ExtensionFacet {
    /// Lower-case, without a leading dot; of several extensions of a file, the shortest.
    #[schema(example = "pdf")]
    pub extension: String,
    /// The matching files with it, exactly.
    pub files: u64,
}

/// A type of buckets with matching files.
#[derive(Serialize, ToSchema)]
pub struct TypeFacet {
    /// Type of the buckets.
    #[serde(rename = "type")]
    #[schema(rename = "type", example = "aws")]
    pub kind: &'static str,
    /// Their matching files, exactly.
    pub files: u64,
}

/// The buckets, extensions and types of the files of a search, each by descending number of files.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "query": {"keywords": "backup", "regexp": false, "noautocorrect": false, "buckets": [], "excludedBuckets": [], "extensions": [], "stopExtensions": [], "fullPath": false, "lastModifiedFrom": null, "lastModifiedTo": null, "sizeFrom": null, "sizeTo": null, "order": "", "direction": "", "start": 0, "limit": 2},
    "meta": {"results": 905, "buckets": 12, "extensions": 31},
    "buckets": [{"id": 6, "bucket": "example.s3-eu-west-1.amazonaws.com", "type": "aws", "files": 610}, {"id": 2, "bucket": "photos.fra1.digitaloceanspaces.com", "type": "dos", "files": 104}],
    "extensions": [{"extension": "gz", "files": 466}, {"extension": "sql", "files": 220}],
    "types": [{"type": "aws", "files": 801}, {"type": "dos", "files": 104}],
}))]
pub struct FacetsAnswer {
    /// The request as parsed.
    pub query: FileEcho,
    /// Metadata of the response.
    pub meta: FacetMeta,
    /// The buckets with the most matching files.
    pub buckets: Vec<BucketFacet>,
    /// The most frequent extensions.
    pub extensions: Vec<ExtensionFacet>,
    /// All types of buckets with matching files.
    pub types: Vec<TypeFacet>,
}
