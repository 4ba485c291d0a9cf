//! Bucket search: its parameters and its answer.

use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use super::parameters::{ParameterError, Parameters};
use crate::model::address::BucketType;
use crate::model::keywords::MOST_TERMS;
use crate::model::package::OFFSET_REACH;

/// Parameters of a bucket search.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "documentation: parameters are read by rules of their own")]
pub struct BucketParameters {
    /// Parts that the address must contain; `-part` must not occur
    #[param(max_length = 1000, example = "photos")]
    keywords: Option<String>,
    /// `1` or `true`: `keywords` is the whole address, or its part before the provider's suffix
    exact: Option<String>,
    /// Bucket type
    #[param(pattern = "^(aws|azure|dos|gcp|ali)$")]
    r#type: Option<String>,
    /// Buckets before the first one
    #[param(value_type = Option<i64>, minimum = 0, maximum = 999999, default = 0)]
    start: Option<String>,
    /// Buckets per answer
    #[param(value_type = Option<i64>, minimum = 1, maximum = 1000, default = 100)]
    limit: Option<String>,
    /// What buckets are sorted by; else by id
    #[param(pattern = "^(fileCount|bucketName)$")]
    order: Option<String>,
    /// `asc` (default) or `desc`
    #[param(pattern = "^(asc|desc)$")]
    direction: Option<String>,
}

/// A bucket search as received and checked.
pub struct BucketSearch {
    /// What is echoed.
    pub echo: BucketEcho,
    /// The one type.
    pub kind: Option<BucketType>,
    /// Parts of addresses, lower-case.
    pub include: Vec<String>,
    /// Parts that must not occur, lower-case.
    pub exclude: Vec<String>,
}

impl BucketSearch {
    /// Reads and checks the parameters.
    pub fn parse(parameters: &Parameters) -> Result<Self, ParameterError> {
        let keywords = parameters.keywords()?.to_owned();
        let (mut include, mut exclude) = (Vec::new(), Vec::new());
        for term in keywords.split_whitespace() {
            let part = term.trim_start_matches('-').to_lowercase();
            if !part.is_empty() {
                if term.starts_with('-') { exclude.push(part) } else { include.push(part) }
            }
        }
        if include.len() + exclude.len() > MOST_TERMS {
            let rule = format!("keywords must have at most {MOST_TERMS} terms");
            return Err(ParameterError::rule("keywords", rule));
        }
        let names: Vec<&'static str> = BucketType::ALL.iter().map(|kind| kind.as_str()).collect();
        let kind = parameters.one_of("type", &names)?.unwrap_or_default();
        let start = parameters.integer("start")?.unwrap_or(0);
        let echo = BucketEcho {
            keywords,
            exact: parameters.boolean("exact")?,
            start,
            limit: parameters.limit()?,
            kind,
            order: parameters.one_of("order", &["fileCount", "bucketName"])?.unwrap_or_default(),
            direction: parameters.direction()?,
        };
        if start >= OFFSET_REACH {
            return Err(ParameterError::OffsetTooLarge);
        }
        let kind = kind.parse().ok();
        Ok(Self { echo, kind, include, exclude })
    }
}

/// The request as it was understood.
#[derive(Clone, Serialize, ToSchema)]
pub struct BucketEcho {
    /// As received.
    pub keywords: String,
    /// Whether they are a whole address.
    pub exact: bool,
    /// Buckets before the first one.
    pub start: u64,
    /// Buckets per answer.
    pub limit: u64,
    /// Empty if absent.
    #[serde(rename = "type")]
    #[schema(rename = "type")]
    pub kind: &'static str,
    /// Empty if absent.
    pub order: &'static str,
    /// Empty if absent.
    pub direction: &'static str,
}

/// What is to be known about the answer.
#[derive(Serialize, ToSchema)]
pub struct BucketMeta {
    /// Matching buckets, exactly.
    pub results: u64,
    /// Limits of the caller's package.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub notice: Option<String>,
}

/// A bucket.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BucketRecord {
    /// Identifier.
    pub id: u64,
    /// Address.
    pub bucket: String,
    /// Files of the bucket in the index.
    pub file_count: u64,
    /// Type.
    #[serde(rename = "type")]
    #[schema(rename = "type", example = "aws")]
    pub kind: &'static str,
}

/// The answer to a bucket search.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "query": {"keywords": "photos", "exact": false, "start": 0, "limit": 100, "type": "aws", "order": "fileCount", "direction": "asc"},
    "meta": {"results": 1},
    "buckets": [{"id": 1, "bucket": "1.photos.s3-us-west-1.amazonaws.com", "fileCount": 0, "type": "aws"}],
}))]
pub struct BucketsAnswer {
    /// The request as it was understood.
    pub query: BucketEcho,
    /// What is to be known about the answer.
    pub meta: BucketMeta,
    /// The buckets, in order.
    pub buckets: Vec<BucketRecord>,
}
