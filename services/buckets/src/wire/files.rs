//! Parameters and response of a file search.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use validator::Validate;

use super::choices::{Direction, PagingMode};
use super::error::ParameterError;
use super::lists::{Extensions, Parts};
use crate::model::address::BucketType;
use crate::model::attribute::{Attribute, Attributes};
use crate::model::expression::{Expression, ExpressionError};
use crate::model::file_query::{Between, FileQuery, FileRow, Matching, Order, Position};
use crate::model::keywords::Keywords;
use crate::model::package::{Capability, OFFSET_REACH};
use crate::model::path;
use crate::model::scroll::{InvalidScroll, Scroll, fingerprint};

/// Parameters of a file search. Unknown parameters are ignored. An empty value counts as absent,
/// and the last value of a repeated parameter applies.
#[derive(Default, Deserialize, Validate, IntoParams)]
#[serde(default, rename_all = "kebab-case")]
#[into_params(parameter_in = Query)]
pub struct FileParameters {
    /// Words that the file name must contain. `-word` excludes names with the word; `"a b"` and
    /// `a-b` match consecutive words. If `regexp` is set, a regular expression.
    #[param(value_type = Option<String>, max_length = 1000, example = "backup -old")]
    #[validate(length(max = 1000, message = "must be at most 1000 characters long"))]
    keywords: String,
    /// Return only files in these buckets. Comma-separated IDs or addresses.
    #[param(value_type = Option<String>)]
    buckets: Parts,
    /// Alias of `buckets`. Ignored if `buckets` is set.
    #[param(value_type = Option<String>)]
    bucket: Parts,
    /// Field to sort by. If omitted, files are sorted by ID. Requires the premium package.
    #[param(value_type = Option<String>, pattern = "^(size|last_modified)?$")]
    order: Option<Attribute>,
    /// Sort direction: `asc` (the default) or `desc`. Only applies with `order`. Requires the
    /// premium package.
    #[param(value_type = Option<String>, pattern = "^(asc|desc)?$")]
    direction: Option<Direction>,
    /// If `1` or `true`, search the full path instead of the file name.
    #[param(value_type = Option<String>, pattern = "^(1|true|0|false)?$")]
    full_path: bool,
    /// Return only files with one of these extensions. Comma-separated.
    #[param(value_type = Option<String>)]
    extensions: Extensions,
    /// Exclude files with any of these extensions. Comma-separated.
    #[param(value_type = Option<String>)]
    stopextensions: Extensions,
    /// Exclude files in these buckets. Comma-separated IDs or addresses. Requires the premium
    /// package.
    #[param(value_type = Option<String>)]
    excluded_buckets: Parts,
    /// Return only files in buckets of these types. Comma-separated: `aws`, `azure`, `dos`, `gcp`,
    /// `ali`.
    #[param(
        value_type = Option<String>,
        pattern = "^((aws|azure|dos|gcp|ali)(,(aws|azure|dos|gcp|ali))*)?$"
    )]
    types: Vec<BucketType>,
    /// If `1` or `true`, `keywords` is a regular expression that must match the entire name.
    /// Requires the premium package.
    #[param(value_type = Option<String>, pattern = "^(1|true|0|false)?$")]
    regexp: bool,
    /// If `1` or `true`, the regular expression is used exactly as given. Otherwise, common
    /// mistakes are corrected. Requires the premium package.
    #[param(value_type = Option<String>, pattern = "^(1|true|0|false)?$")]
    noautocorrect: bool,
    /// Return only files modified after this time, in Unix seconds. Requires the premium package.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 999999999999999999i64)]
    last_modified_from: Option<u64>,
    /// Return only files modified before this time, in Unix seconds. Requires the premium package.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 999999999999999999i64)]
    last_modified_to: Option<u64>,
    /// Return only files larger than this size, in bytes. Requires the premium package.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 999999999999999999i64)]
    size_from: Option<u64>,
    /// Return only files smaller than this size, in bytes. Requires the premium package.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 999999999999999999i64)]
    size_to: Option<u64>,
    /// Maximum number of files to return. If omitted, a download contains all files that the
    /// package allows.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 1000, default = 100)]
    #[validate(range(min = 1, max = 1000, message = "must be between 1 and 1000"))]
    limit: Option<u64>,
    /// Paging mode: `offset` (the default) or `scrolling`. Scrolling requires the enterprise
    /// package.
    #[param(value_type = Option<String>, pattern = "^(offset|scrolling)?$")]
    paging_mode: PagingMode,
    /// Number of files to skip. Only applies to offset paging.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 999999, default = 0)]
    start: u64,
    /// The `meta.nextScrollId` of the previous response. Only applies to scrolling.
    scroll_id: Option<String>,
    /// Alias of `scroll-id`. Ignored if `scroll-id` is set.
    #[serde(rename = "scrollId")]
    #[param(ignore)]
    scroll_id_in_camel_case: Option<String>,
}

/// Default page size.
const DEFAULT_LIMIT: u64 = 100;

/// A validated file search.
pub struct FileSearch {
    /// Parameters to echo in the response.
    pub echo: FileEcho,
    /// The query. Bucket ids and the position still have to be filled in.
    pub query: FileQuery,
    /// Bucket types.
    pub types: Vec<BucketType>,
    /// Whether this is a scroll.
    pub scrolling: bool,
    /// State of the scroll, unless this is its first page.
    pub scroll: Option<Scroll>,
    /// `limit` as given, or `None` if it's absent.
    pub given_limit: Option<u64>,
    /// Capabilities that the search needs, as (parameter, capability).
    pub needs: Vec<(&'static str, Capability)>,
    /// Explains how the expression was corrected.
    pub regex_notice: Option<String>,
}

impl TryFrom<FileParameters> for FileSearch {
    type Error = ParameterError;

    fn try_from(given: FileParameters) -> Result<Self, ParameterError> {
        let (matching, regex_notice) =
            matching(&given.keywords, given.regexp, !given.noautocorrect)?;
        let scrolling = given.paging_mode == PagingMode::Scrolling;
        if !scrolling && given.start >= OFFSET_REACH {
            return Err(ParameterError::OffsetTooLarge);
        }
        let scroll = scroll(given.scroll_id.or(given.scroll_id_in_camel_case), scrolling)?;
        let buckets = if given.buckets.0.is_empty() { given.bucket } else { given.buckets };
        let echo = FileEcho {
            keywords: given.keywords,
            regexp: given.regexp,
            noautocorrect: given.noautocorrect,
            buckets: buckets.0,
            excluded_buckets: given.excluded_buckets.0,
            extensions: given.extensions.0,
            stop_extensions: given.stopextensions.0,
            full_path: given.full_path,
            last_modified_from: given.last_modified_from,
            last_modified_to: given.last_modified_to,
            size_from: given.size_from,
            size_to: given.size_to,
            order: given.order.map_or("", Attribute::as_str),
            direction: given.direction.map_or("", Direction::as_str),
            start: if scrolling { 0 } else { given.start },
            limit: given.limit.unwrap_or(DEFAULT_LIMIT),
        };
        let query = query(&echo, matching, given.order, &given.types);
        let needs = needs(&echo, scrolling);
        let (types, given_limit) = (given.types, given.limit);
        Ok(Self { echo, query, types, scrolling, scroll, given_limit, needs, regex_notice })
    }
}

impl FileSearch {
    /// Hashes everything that must not change during a scroll, including the scroll's owner.
    pub fn fingerprint(&self, owner: &str) -> u64 {
        let echo = FileEcho { limit: 0, start: 0, ..self.echo.clone() };
        let echo = serde_json::to_string(&echo).unwrap_or_default();
        let types: Vec<&str> = self.types.iter().map(|kind| kind.as_str()).collect();
        fingerprint([owner, echo.as_str(), types.join(",").as_str()])
    }
}

fn matching(
    keywords: &str,
    regexp: bool,
    correct: bool,
) -> Result<(Matching, Option<String>), ParameterError> {
    if !regexp {
        let parsed = Keywords::parse(keywords)
            .map_err(|error| ParameterError::rule("keywords", error.to_string()))?;
        let matching = if parsed.is_empty() { Matching::All } else { Matching::Words(parsed) };
        return Ok((matching, None));
    }
    if keywords.is_empty() {
        return Err(ParameterError::rule(
            "keywords",
            "keywords must contain the expression if regexp is set",
        ));
    }
    let expression = Expression::parse(keywords, correct)
        .map_err(|error: ExpressionError| ParameterError::Regexp(error.to_string()))?;
    let notice = expression.notice().map(str::to_owned);
    Ok((Matching::Expression(Arc::new(expression)), notice))
}

fn scroll(id: Option<String>, scrolling: bool) -> Result<Option<Scroll>, ParameterError> {
    let name = "scroll-id";
    let Some(text) = id else { return Ok(None) };
    if !scrolling {
        return Err(ParameterError::rule(name, "scroll-id needs paging-mode=scrolling"));
    }
    let invalid = |error: InvalidScroll| ParameterError::rule(name, error.to_string());
    Scroll::decode(&text).map(Some).map_err(invalid)
}

fn query(
    echo: &FileEcho,
    matching: Matching,
    order: Option<Attribute>,
    types: &[BucketType],
) -> FileQuery {
    let bound = |value: Option<u64>| value.map(|value| i64::try_from(value).unwrap_or(i64::MAX));
    let mut types: Vec<u64> = types.iter().map(|kind| kind.code()).collect();
    types.sort_unstable();
    FileQuery {
        matching,
        full_path: echo.full_path,
        buckets: None,
        excluded_buckets: Vec::new(),
        hidden: Vec::new(),
        types,
        extensions: echo.extensions.clone(),
        stop_extensions: echo.stop_extensions.clone(),
        intervals: Attributes::from_fn(|attribute| {
            let (from, to) = match attribute {
                Attribute::Size => (echo.size_from, echo.size_to),
                Attribute::LastModified => (echo.last_modified_from, echo.last_modified_to),
            };
            Between { from: bound(from), to: bound(to) }
        }),
        ids: None,
        order: order.map_or(Order::Index, Order::By),
        descending: echo.direction == "desc" && order.is_some(),
        position: Position::Offset(echo.start),
        limit: echo.limit as usize,
    }
}

fn needs(echo: &FileEcho, scrolling: bool) -> Vec<(&'static str, Capability)> {
    let asked = [
        ("order", Capability::Sorting, !echo.order.is_empty()),
        ("direction", Capability::Sorting, !echo.direction.is_empty()),
        ("excluded-buckets", Capability::Filters, !echo.excluded_buckets.is_empty()),
        ("regexp", Capability::Regexp, echo.regexp),
        ("noautocorrect", Capability::Regexp, echo.noautocorrect),
        ("last-modified-from", Capability::Filters, echo.last_modified_from.is_some()),
        ("last-modified-to", Capability::Filters, echo.last_modified_to.is_some()),
        ("size-from", Capability::Filters, echo.size_from.is_some()),
        ("size-to", Capability::Filters, echo.size_to.is_some()),
        ("paging-mode", Capability::Scrolling, scrolling),
    ];
    asked.into_iter().filter(|asked| asked.2).map(|(name, need, _)| (name, need)).collect()
}

/// The request, as the service interpreted it.
#[derive(Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileEcho {
    /// Value of `keywords`.
    pub keywords: String,
    /// Value of `regexp`.
    pub regexp: bool,
    /// Value of `noautocorrect`.
    pub noautocorrect: bool,
    /// Values of `buckets` or `bucket`.
    pub buckets: Vec<String>,
    /// Values of `excluded-buckets`.
    pub excluded_buckets: Vec<String>,
    /// Values of `extensions`, in lower case and without leading dots.
    pub extensions: Vec<String>,
    /// Values of `stopextensions`, in lower case and without leading dots.
    pub stop_extensions: Vec<String>,
    /// Value of `full-path`.
    pub full_path: bool,
    /// Value of `last-modified-from`, in Unix seconds. `null` if not given.
    pub last_modified_from: Option<u64>,
    /// Value of `last-modified-to`, in Unix seconds. `null` if not given.
    pub last_modified_to: Option<u64>,
    /// Value of `size-from`, in bytes. `null` if not given.
    pub size_from: Option<u64>,
    /// Value of `size-to`, in bytes. `null` if not given.
    pub size_to: Option<u64>,
    /// Value of `order`. Empty if not given.
    pub order: &'static str,
    /// Value of `direction`. Empty if not given.
    pub direction: &'static str,
    /// Number of files skipped. 0 when scrolling.
    pub start: u64,
    /// Maximum number of files to return.
    pub limit: u64,
}

/// Metadata of the response.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileMeta {
    /// Exact number of matching files.
    pub results: u64,
    /// How the package limits these results. Absent if it does not limit them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub notice: Option<String>,
    /// How the regular expression was corrected. Absent if it was not corrected.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub regex_notice: Option<String>,
    /// Value of `scroll-id` for the next page. Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub next_scroll_id: Option<String>,
}

/// A file.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileRecord {
    /// ID of the file. A rebuild of the index changes it.
    #[schema(example = "2101")]
    pub id: String,
    /// Address of the bucket.
    pub bucket: String,
    /// ID of the bucket.
    pub bucket_id: u64,
    /// The last segment of the path.
    pub filename: String,
    /// Full path within the bucket.
    pub full_path: String,
    /// URL of the file.
    pub url: String,
    /// Size in bytes.
    pub size: i64,
    /// Type of the bucket.
    #[serde(rename = "type")]
    #[schema(rename = "type", example = "aws")]
    pub kind: &'static str,
    /// When the file was last modified, in Unix seconds. 0 if unknown.
    pub last_modified: i64,
}

impl FileRecord {
    /// Creates a record from a row in the index. `address` and `kind` belong to the row's bucket.
    pub fn new(row: FileRow, address: &str, kind: BucketType) -> Self {
        Self {
            id: row.id.to_string(),
            bucket: address.to_owned(),
            bucket_id: row.bucket,
            filename: path::file_name(&row.path).to_owned(),
            url: path::url(address, &row.path),
            full_path: row.path,
            size: row.attributes[Attribute::Size],
            kind: kind.as_str(),
            last_modified: row.attributes[Attribute::LastModified],
        }
    }
}

/// A page of files.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "query": {"keywords": "2011 -07", "regexp": false, "noautocorrect": false, "buckets": [], "excludedBuckets": ["4", "5"], "extensions": [], "stopExtensions": [], "fullPath": true, "lastModifiedFrom": null, "lastModifiedTo": null, "sizeFrom": null, "sizeTo": null, "order": "", "direction": "", "start": 0, "limit": 2},
    "meta": {"results": 905},
    "files": [{"id": "2101", "bucket": "example.s3-eu-west-1.amazonaws.com", "bucketId": 6, "filename": "b 2011 15", "fullPath": "a/b 2011 15", "url": "http://example.s3-eu-west-1.amazonaws.com/a/b%202011%2015", "size": 2549108, "type": "aws", "lastModified": 1666666666}],
}))]
pub struct FilesAnswer {
    /// The request, as the service interpreted it.
    pub query: FileEcho,
    /// Metadata of the response.
    pub meta: FileMeta,
    /// The files.
    pub files: Vec<FileRecord>,
}
