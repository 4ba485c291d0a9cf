//! `GET /range/{prefix}`.

use actix_web::body::BoxBody;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse, get};
use domain::{HashPrefix, PrefixError};

use super::buffer::Buffer;
use crate::error::{Error, mark};
use crate::model::conditional::EntityTag;
use crate::model::{Bucket, Kind, accept, gzip, query, render};
use crate::state::{Served, Worker, WorkerCell};
use crate::store::corpus::BucketProblem;

/// The pattern of the route.
pub const ROUTE: &str = "/range/{prefix}";

const ADD_PADDING: HeaderName = HeaderName::from_static("add-padding");
const PLAIN_TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const GZIP: HeaderValue = HeaderValue::from_static("gzip");

/// Hashes that begin with a prefix
///
/// Answers all hashes of the corpus whose first 5 hexadecimal characters are `prefix`, one a
/// line: the rest of the hash in upper case (35 characters for SHA-1, 27 for NTLM), a colon, and
/// how often it was seen (1 to 2147483647). Lines ascend and are separated by CR LF; there is none
/// after the last line. No hash with the prefix: an empty body, never 404.
///
/// With `Add-Padding: true` lines with random hashes and count 0 follow, so that the length of
/// the answer does not give away the prefix; clients discard them.
#[utoipa::path(
    operation_id = "getPasswordRange",
    tag = "Range",
    params(
        ("prefix" = String, Path, description = "First 5 characters of the hash, in either case",
            pattern = "^[0-9A-Fa-f]{5}$", example = "5BAA6"),
        ("mode" = Option<String>, Query,
            description = "`ntlm` selects NTLM hashes, anything else SHA-1", example = "ntlm"),
        ("Add-Padding" = Option<String>, Header, description = "`true` adds padding",
            example = "true"),
    ),
    responses(
        (status = 200, description = "The range, empty if no hash has the prefix",
            content_type = "text/plain", body = String,
            example = "1E4C9B93F3F0682250B6CF8331B7EE68FD8:3"),
        (status = 304, description = "The range is the one named by `If-None-Match`"),
        (status = 400, description = "The path holds no valid prefix", content_type = "text/plain",
            body = String, example = "The hash prefix was not in a valid format"),
        (status = 403, description = "User agent missing, where one is required",
            content_type = "text/plain", body = String,
            example = "Access denied due to missing user-agent."),
        (status = 405, description = "Not GET, HEAD or OPTIONS", content_type = "text/plain",
            body = String,
            example = "Only GET requests can be used to query ranges, but this request used the POST verb"),
        (status = 500, description = "The corpus cannot be read", content_type = "text/plain",
            body = String, example = "Internal error"),
        (status = 503, description = "No corpus of this kind is loaded",
            content_type = "text/plain", body = String,
            example = "The NTLM corpus is not available"),
    ),
)]
#[get("/range/{prefix}")]
pub async fn get_password_range(request: HttpRequest) -> HttpResponse {
    let text = request.uri().path().strip_prefix("/range/").unwrap_or_default();
    let answer = match HashPrefix::parse(text) {
        Ok(prefix) => answer(&request, prefix),
        Err(PrefixError::Length) => Err(Error::PrefixFormat),
        Err(PrefixError::NotHexadecimal) => Err(Error::PrefixNotHexadecimal),
    };
    answer.unwrap_or_else(|error| error.response())
}

/// Answers a GET or HEAD request for a range.
///
/// # Errors
/// [`Error::NotLoaded`] and [`Error::Internal`].
pub fn answer(request: &HttpRequest, prefix: HashPrefix) -> Result<HttpResponse, Error> {
    let cell = request.app_data::<WorkerCell>().ok_or(Error::Internal)?;
    let mut worker = cell.borrow_mut();
    let kind = query::kind(request.uri().query());
    let Worker { state, seen, scratch, .. } = &mut *worker;
    let Some(served) = state.slot(kind).refresh(&mut seen[kind.position()]) else {
        return Err(Error::NotLoaded(kind));
    };
    let headers = request.headers();
    let padding = Padding::of(headers);
    let tag = EntityTag::of(served.corpus.digest(prefix));
    if padding != Padding::Wanted && is_known(headers, &tag, served) {
        return Ok(not_modified(padding, &tag, served, state.cache_control()));
    }
    let wants_gzip = state.settings().gzip.is_on()
        && accept::takes_gzip(headers.get_all(header::ACCEPT_ENCODING).map(HeaderValue::as_bytes));
    match scratch.body(served, prefix, padding, wants_gzip, state.verifies()) {
        Ok(body) => Ok(ok(body, padding, &tag, served, state.cache_control())),
        Err(problem) => {
            state.note_failure(kind, prefix, &problem);
            Err(Error::Internal)
        }
    }
}

/// Whether a request asks for padding.
pub fn wants_padding(request: &HttpRequest) -> bool {
    Padding::of(request.headers()) == Padding::Wanted
}

/// What a request says about padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Padding {
    NotMentioned,
    Refused,
    Wanted,
}

impl Padding {
    fn of(headers: &HeaderMap) -> Self {
        match headers.get(&ADD_PADDING) {
            None => Self::NotMentioned,
            Some(value) if value.as_bytes().eq_ignore_ascii_case(b"true") => Self::Wanted,
            Some(_) => Self::Refused,
        }
    }
}

fn is_known(headers: &HeaderMap, tag: &EntityTag, served: &Served) -> bool {
    if headers.contains_key(header::IF_NONE_MATCH) {
        let mut values = headers.get_all(header::IF_NONE_MATCH);
        return values.any(|value| tag.is_in(value.as_bytes()));
    }
    let since = headers.get(header::IF_MODIFIED_SINCE).and_then(|value| value.to_str().ok());
    since
        .and_then(|since| httpdate::parse_http_date(since).ok())
        .is_some_and(|since| since >= served.built_at)
}

/// A body and whether it is compressed.
struct Body {
    bytes: Bytes,
    packed: bool,
}

/// Memory that a worker uses again for each request.
#[derive(Default)]
pub struct Scratch {
    bucket: Vec<u8>,
    padder: Option<crate::model::padding::Padder>,
}

impl Scratch {
    fn body(
        &mut self,
        served: &Served,
        prefix: HashPrefix,
        padding: Padding,
        wants_gzip: bool,
        verify: bool,
    ) -> Result<Body, BucketProblem> {
        let corpus = &served.corpus;
        let bytes = if verify {
            corpus.sound_bytes(prefix, &mut self.bucket)?
        } else {
            corpus.bytes(prefix, &mut self.bucket)?
        };
        let bucket = Bucket::parse(corpus.kind(), bytes)?;
        let filler = match padding {
            Padding::Wanted => Self::filler(&mut self.padder, corpus.kind(), bucket.len())?,
            _ => &[],
        };
        let lines = filler.len() / (corpus.kind().tail_bytes() + 1);
        let mut text = Buffer::with_room(render::room(&bucket, lines));
        let length = write_text(&bucket, filler, text.room())?;
        if !wants_gzip || length < gzip::SHORTEST {
            return Ok(Body { bytes: text.into_body(length), packed: false });
        }
        let mut packed = Buffer::with_room(gzip::room(length));
        let length = gzip::encode(&bucket, filler, &text.room()[..length], packed.room())?;
        Ok(Body { bytes: packed.into_body(length), packed: true })
    }

    fn filler(
        padder: &mut Option<crate::model::padding::Padder>,
        kind: Kind,
        n: usize,
    ) -> Result<&[u8], BucketProblem> {
        let padder = match padder {
            Some(padder) => padder,
            None => padder.insert(crate::model::padding::Padder::new()?),
        };
        let lines = padder.draw(n);
        Ok(padder.bytes(kind, lines)?)
    }
}

/// Renders real lines, then padding, without a separator after the last line.
fn write_text(bucket: &Bucket<'_>, filler: &[u8], out: &mut [u8]) -> Result<usize, BucketProblem> {
    let mut length = render::bucket(bucket, out)?;
    length += render::padding(bucket.kind(), filler, &mut out[length..]);
    Ok(render::without_last_separator(length))
}

fn ok(
    body: Body,
    padding: Padding,
    tag: &EntityTag,
    served: &Served,
    cache_control: &HeaderValue,
) -> HttpResponse {
    let mut response = HttpResponse::with_body(StatusCode::OK, BoxBody::new(body.bytes));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, PLAIN_TEXT);
    if body.packed {
        headers.insert(header::CONTENT_ENCODING, GZIP);
    }
    describe(headers, padding, tag, body.packed, served, cache_control);
    response
}

fn not_modified(
    padding: Padding,
    tag: &EntityTag,
    served: &Served,
    cache_control: &HeaderValue,
) -> HttpResponse {
    let mut response = HttpResponse::with_body(StatusCode::NOT_MODIFIED, BoxBody::new(()));
    describe(response.headers_mut(), padding, tag, false, served, cache_control);
    response
}

fn describe(
    headers: &mut HeaderMap,
    padding: Padding,
    tag: &EntityTag,
    packed: bool,
    served: &Served,
    cache_control: &HeaderValue,
) {
    let caching = if padding == Padding::NotMentioned { cache_control.clone() } else { NO_STORE };
    headers.insert(header::CACHE_CONTROL, caching);
    if padding != Padding::Wanted {
        let tag = if packed { tag.weak() } else { tag.strong() };
        if let Ok(tag) = HeaderValue::from_bytes(tag) {
            headers.insert(header::ETAG, tag);
        }
        headers.insert(header::LAST_MODIFIED, served.last_modified.clone());
    }
    mark(headers);
}
