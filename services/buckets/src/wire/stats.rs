//! Statistics.

use serde::Serialize;
use utoipa::ToSchema;

use crate::model::counts::Counts;

/// The number of files, and the number of buckets per type.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Stats {
    /// Number of files.
    pub files_count: u64,
    /// Number of Amazon S3 buckets.
    pub aws_count: u64,
    /// Number of Azure Blob Storage containers.
    pub azure_count: u64,
    /// Number of DigitalOcean Spaces.
    pub dos_count: u64,
    /// Number of Google Cloud Storage buckets.
    pub gcp_count: u64,
    /// Number of Alibaba Cloud OSS buckets.
    pub ali_count: u64,
}

impl From<Counts> for Stats {
    fn from(Counts { files, buckets: [aws, azure, dos, gcp, ali] }: Counts) -> Self {
        Self {
            files_count: files,
            aws_count: aws,
            azure_count: azure,
            dos_count: dos,
            gcp_count: gcp,
            ali_count: ali,
        }
    }
}

/// How the package restricts what the caller can search.
#[derive(Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatsMeta {
    /// A description of the restriction. Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub notice: Option<String>,
    /// Statistics of the data that the caller can search. Absent if all of it can be searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub restricted_stats: Option<Stats>,
}

/// The response of `getStats`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"meta": {}, "stats": {"filesCount": 12475502817_u64, "awsCount": 325260, "azureCount": 56326, "dosCount": 8625, "gcpCount": 75239, "aliCount": 25341}, "lastUpdated": 1724584168}))]
pub struct StatsAnswer {
    /// How the package restricts what the caller can search.
    pub meta: StatsMeta,
    /// Statistics of the entire index.
    pub stats: Stats,
    /// When the index was last published, in Unix seconds. 0 before the first publish.
    pub last_updated: i64,
}
