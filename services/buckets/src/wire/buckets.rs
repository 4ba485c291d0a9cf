//! Parameters and response of a bucket search.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use validator::Validate;

use super::choices::{BucketOrder, Direction};
use super::error::ParameterError;
use crate::model::address::BucketType;
use crate::model::keywords::MOST_TERMS;
use crate::model::package::OFFSET_REACH;

/// Parameters of a bucket search.
#[derive(Default, Deserialize, Validate, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct BucketParameters {
    /// Space-separated terms that the address must contain. Prefix a term with `-` to exclude
    /// addresses that contain it.
    #[param(value_type = Option<String>, max_length = 1000, example = "photos")]
    #[validate(length(max = 1000, message = "must be at most 1000 characters long"))]
    keywords: String,
    /// If `1` or `true`, `keywords` must equal the full address or the part before the provider's
    /// domain.
    #[param(value_type = Option<String>, pattern = "^(1|true|0|false)?$")]
    exact: bool,
    /// Return only buckets of this type.
    #[param(value_type = Option<String>, pattern = "^(aws|azure|dos|gcp|ali)?$")]
    r#type: Option<BucketType>,
    /// Number of buckets to skip.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 999999, default = 0)]
    start: u64,
    /// Maximum number of buckets to return.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 1000, default = 100)]
    #[validate(range(min = 1, max = 1000, message = "must be between 1 and 1000"))]
    limit: Option<u64>,
    /// Field to sort by. If omitted, buckets are sorted by ID.
    #[param(value_type = Option<String>, pattern = "^(fileCount|bucketName)?$")]
    order: Option<BucketOrder>,
    /// Sort direction: `asc` (the default) or `desc`. Only applies with `order`.
    #[param(value_type = Option<String>, pattern = "^(asc|desc)?$")]
    direction: Option<Direction>,
}

/// Default page size.
const DEFAULT_LIMIT: u64 = 100;

/// A validated bucket search.
pub struct BucketSearch {
    /// Parameters to echo in the response.
    pub echo: BucketEcho,
    /// Only include buckets of this type.
    pub kind: Option<BucketType>,
    /// Only include buckets whose address contains all of these strings, in lower case.
    pub include: Vec<String>,
    /// Exclude buckets whose address contains any of these strings, in lower case.
    pub exclude: Vec<String>,
    /// Sort order. `None` sorts by id.
    pub order: Option<BucketOrder>,
    /// Whether to sort in descending order.
    pub descending: bool,
}

impl TryFrom<BucketParameters> for BucketSearch {
    type Error = ParameterError;

    fn try_from(given: BucketParameters) -> Result<Self, ParameterError> {
        let (mut include, mut exclude) = (Vec::new(), Vec::new());
        for term in given.keywords.split_whitespace() {
            let part = term.trim_start_matches('-').to_lowercase();
            if !part.is_empty() {
                if term.starts_with('-') { exclude.push(part) } else { include.push(part) }
            }
        }
        if include.len() + exclude.len() > MOST_TERMS {
            let rule = format!("keywords must have at most {MOST_TERMS} terms");
            return Err(ParameterError::rule("keywords", rule));
        }
        if given.start >= OFFSET_REACH {
            return Err(ParameterError::OffsetTooLarge);
        }
        let echo = BucketEcho {
            keywords: given.keywords,
            exact: given.exact,
            start: given.start,
            limit: given.limit.unwrap_or(DEFAULT_LIMIT),
            kind: given.r#type.map_or("", BucketType::as_str),
            order: given.order.map_or("", BucketOrder::as_str),
            direction: given.direction.map_or("", Direction::as_str),
        };
        let descending = given.direction == Some(Direction::Desc);
        Ok(Self { echo, kind: given.r#type, include, exclude, order: given.order, descending })
    }
}

/// The request, as the service interpreted it.
#[derive(Clone, Serialize, ToSchema)]
pub struct BucketEcho {
    /// Value of `keywords`.
    pub keywords: String,
    /// Value of `exact`.
    pub exact: bool,
    /// Number of buckets skipped.
    pub start: u64,
    /// Maximum number of buckets to return.
    pub limit: u64,
    /// Value of `type`. Empty if not given.
    #[serde(rename = "type")]
    #[schema(rename = "type")]
    pub kind: &'static str,
    /// Value of `order`. Empty if not given.
    pub order: &'static str,
    /// Value of `direction`. Empty if not given.
    pub direction: &'static str,
}

/// Metadata of the response.
#[derive(Serialize, ToSchema)]
pub struct BucketMeta {
    /// Exact number of matching buckets.
    pub results: u64,
    /// How the package limits these results. Absent if it does not limit them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub notice: Option<String>,
}

/// A bucket.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BucketRecord {
    /// ID of the bucket.
    pub id: u64,
    /// Address of the bucket.
    pub bucket: String,
    /// Number of the bucket's files in the index.
    pub file_count: u64,
    /// Type of the bucket.
    #[serde(rename = "type")]
    #[schema(rename = "type", example = "aws")]
    pub kind: &'static str,
}

/// A page of buckets.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "query": {"keywords": "photos", "exact": false, "start": 0, "limit": 100, "type": "aws", "order": "fileCount", "direction": "asc"},
    "meta": {"results": 1},
    "buckets": [{"id": 1, "bucket": "1.photos.s3-us-west-1.amazonaws.com", "fileCount": 0, "type": "aws"}],
}))]
pub struct BucketsAnswer {
    /// The request, as the service interpreted it.
    pub query: BucketEcho,
    /// Metadata of the response.
    pub meta: BucketMeta,
    /// The buckets.
    pub buckets: Vec<BucketRecord>,
}
