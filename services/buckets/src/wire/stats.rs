//! Statistics.

use serde::Serialize;
use utoipa::ToSchema;

use crate::model::counts::Counts;

/// Numbers of files, and of buckets by type.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Stats {
    /// Files in the index.
    pub files_count: u64,
    /// Buckets of Amazon S3.
    pub aws_count: u64,
    /// Buckets of Azure Blob Storage.
    pub azure_count: u64,
    /// Buckets of DigitalOcean Spaces.
    pub dos_count: u64,
    /// Buckets of Google Cloud Storage.
    pub gcp_count: u64,
    /// Buckets of Alibaba Cloud OSS.
    pub ali_count: u64,
}

impl Stats {
    /// Total number of buckets.
    pub fn buckets(&self) -> u64 {
        self.aws_count + self.azure_count + self.dos_count + self.gcp_count + self.ali_count
    }
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

/// Restrictions of the caller.
#[derive(Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatsMeta {
    /// Limits of the caller's package.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub notice: Option<String>,
    /// Numbers that the caller can search, if restricted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub restricted_stats: Option<Stats>,
}

/// Statistics of the index.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"meta": {}, "stats": {"filesCount": 12475502817_u64, "awsCount": 325260, "azureCount": 56326, "dosCount": 8625, "gcpCount": 75239, "aliCount": 25341}, "lastUpdated": 1724584168}))]
pub struct StatsAnswer {
    /// Restrictions of the caller.
    pub meta: StatsMeta,
    /// The whole index.
    pub stats: Stats,
    /// Unix seconds of the last publish; 0: none yet.
    pub last_updated: i64,
}
