//! `GET /range/{prefix}` and its NTLM variant.

use actix_web::{HttpRequest, HttpResponse};
use domain::{HashPrefix, PrefixError};
use shell::EntityTag;

use super::worker::{Worker, WorkerCell};
use super::{input, reply};
use crate::app::{self, Padding};
use crate::error::{Error, Failures};
use crate::model::Kind;

/// The route pattern.
pub const RANGE: &str = "/range/{prefix}";
/// The route pattern for clients that can't send `mode`.
pub const NTLM_RANGE: &str = "/ntlm/range/{prefix}";

/// Returns a path's route pattern and the prefix in it.
pub fn route(path: &str) -> Option<(&'static str, &str)> {
    if let Some(prefix) = path.strip_prefix("/range/") {
        return Some((RANGE, prefix));
    }
    path.strip_prefix("/ntlm/range/").map(|prefix| (NTLM_RANGE, prefix))
}

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
    get,
    path = "/range/{prefix}",
    operation_id = "getPasswordRange",
    tag = "Range",
    params(
        ("prefix" = String, Path, description = "First 5 characters of the hash, in either case",
            pattern = "^[0-9A-Fa-f]{5}$", example = "5BAA6"),
        ("mode" = Option<String>, Query,
            description = "`ntlm` selects NTLM hashes, anything else SHA-1"),
        ("Add-Padding" = Option<String>, Header, description = "`true` adds padding"),
    ),
    responses(
        (status = 200, description = "The range, empty if no hash has the prefix",
            content_type = "text/plain", body = String,
            example = "1E4C9B93F3F0682250B6CF8331B7EE68FD8:3"),
        (status = 304, description = "The range is the one named by `If-None-Match`"),
        Failures,
    ),
)]
pub fn get_password_range(request: &HttpRequest, prefix: &str) -> HttpResponse {
    answer(request, input::kind(request.uri().query()), prefix)
}

/// NTLM hashes that begin with a prefix
///
/// The same as `/range/{prefix}?mode=ntlm`, for clients that know the address of a service but cannot send
/// a query: they take the address of this service with `/ntlm` behind it.
#[utoipa::path(
    get,
    path = "/ntlm/range/{prefix}",
    operation_id = "getNtlmRange",
    tag = "Range",
    params(
        ("prefix" = String, Path, description = "First 5 characters of the hash, in either case",
            pattern = "^[0-9A-Fa-f]{5}$", example = "8846F"),
        ("Add-Padding" = Option<String>, Header, description = "`true` adds padding",
            example = "true"),
    ),
    responses(
        (status = 200, description = "The range, empty if no hash has the prefix",
            content_type = "text/plain", body = String,
            example = "7EAEE8FB117AD06BDD830B7586C:3"),
        (status = 304, description = "The range is the one named by `If-None-Match`"),
        Failures,
    ),
)]
pub fn get_ntlm_range(request: &HttpRequest, prefix: &str) -> HttpResponse {
    answer(request, Kind::Ntlm, prefix)
}

fn answer(request: &HttpRequest, kind: Kind, prefix: &str) -> HttpResponse {
    let range = match HashPrefix::parse(prefix) {
        Ok(prefix) => range(request, kind, prefix),
        Err(PrefixError::Length) => Err(Error::PrefixFormat),
        Err(PrefixError::NotHexadecimal) => Err(Error::PrefixNotHexadecimal),
    };
    range.unwrap_or_else(|error| error.response())
}

fn range(request: &HttpRequest, kind: Kind, prefix: HashPrefix) -> Result<HttpResponse, Error> {
    let cell = request.app_data::<WorkerCell>().ok_or(Error::Internal)?;
    let mut worker = cell.borrow_mut();
    let Worker { state, kinds, reader, cache_control } = &mut *worker;
    let current = kinds[kind.position()].current().ok_or(Error::NotLoaded(kind))?;
    let corpus = current.snapshot.corpus();
    corpus.prefetch(prefix);
    let headers = request.headers();
    let padding = input::padding(headers);
    let tag = EntityTag::of_digest(&corpus.digest(prefix));
    if padding != Padding::Wanted
        && shell::is_known(headers, &tag, Some(current.snapshot.built_at()))
    {
        return Ok(reply::not_modified(padding, &tag, current, cache_control));
    }
    let wants_gzip = state.settings().gzip.is_on() && input::takes_gzip(headers);
    match reader.read(corpus, prefix, padding, wants_gzip) {
        Ok(body) => Ok(reply::ok(body, padding, &tag, current, cache_control)),
        Err(problem) => {
            app::note_failure(state, kind, prefix, &problem);
            Err(Error::Internal)
        }
    }
}

/// Returns whether the request asks for padding.
pub fn wants_padding(request: &HttpRequest) -> bool {
    input::padding(request.headers()) == Padding::Wanted
}
