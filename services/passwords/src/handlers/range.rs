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

/// Returns the route pattern that `path` matches, and the prefix in the path.
pub fn route(path: &str) -> Option<(&'static str, &str)> {
    if let Some(prefix) = path.strip_prefix("/range/") {
        return Some((RANGE, prefix));
    }
    path.strip_prefix("/ntlm/range/").map(|prefix| (NTLM_RANGE, prefix))
}

/// List SHA-1 or NTLM hashes by prefix
///
/// Returns every hash in the corpus that starts with `prefix`, one per line. Each line contains the
/// rest of the hash in upper case (35 characters for SHA-1, 27 for NTLM), a colon, and the number
/// of times the password was seen (1 to 2147483647). Lines are sorted by hash and separated by CR
/// LF, without a trailing line break. If no hash matches, the response is a 200 with an empty body.
///
/// With `Add-Padding: true`, the response also contains random hashes with a count of 0. This
/// padding keeps the response size from revealing the prefix. Clients must discard these lines.
#[utoipa::path(
    get,
    path = "/range/{prefix}",
    operation_id = "getPasswordRange",
    tag = "Range",
    params(
        ("prefix" = String, Path,
            description = "First 5 hexadecimal characters of the hash, in upper or lower case.",
            pattern = "^[0-9A-Fa-f]{5}$", example = "5BAA6"),
        ("mode" = Option<String>, Query,
            description = "Hash kind. `ntlm` selects NTLM; any other value selects SHA-1."),
        ("Add-Padding" = Option<String>, Header,
            description = "Set to `true` to pad the response."),
    ),
    responses(
        (status = 200, description = "The matching hashes. The body is empty if there are none.",
            content_type = "text/plain", body = String,
            example = "1E4C9B93F3F0682250B6CF8331B7EE68FD8:3"),
        (status = 304, description = "The range still matches the `If-None-Match` header."),
        Failures,
    ),
)]
pub fn get_password_range(request: &HttpRequest, prefix: &str) -> HttpResponse {
    answer(request, input::kind(request.uri().query()), prefix)
}

/// List NTLM hashes by prefix
///
/// Equivalent to `/range/{prefix}?mode=ntlm`, for clients that cannot send query parameters. Append
/// `/ntlm` to the base URL configured in the client.
#[utoipa::path(
    get,
    path = "/ntlm/range/{prefix}",
    operation_id = "getNtlmRange",
    tag = "Range",
    params(
        ("prefix" = String, Path,
            description = "First 5 hexadecimal characters of the hash, in upper or lower case.",
            pattern = "^[0-9A-Fa-f]{5}$", example = "8846F"),
        ("Add-Padding" = Option<String>, Header, description = "Set to `true` to pad the response.",
            example = "true"),
    ),
    responses(
        (status = 200, description = "The matching hashes. The body is empty if there are none.",
            content_type = "text/plain", body = String,
            example = "7EAEE8FB117AD06BDD830B7586C:3"),
        (status = 304, description = "The range still matches the `If-None-Match` header."),
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
    let wants_gzip = state.settings().gzip.is_on() && input::takes_gzip(headers);
    if padding != Padding::Wanted
        && shell::is_known(headers, &tag, Some(current.snapshot.built_at()))
    {
        return Ok(reply::not_modified(padding, &tag, wants_gzip, current, cache_control));
    }
    match reader.read(corpus, prefix, padding, wants_gzip) {
        Ok(body) => Ok(reply::ok(body, padding, &tag, current, cache_control)),
        Err(problem) => {
            let id = shell::request_id(request).to_string();
            app::note_failure(state, kind, prefix, &problem, &id);
            Err(Error::Internal)
        }
    }
}

/// Returns whether the request asks for padding.
pub fn wants_padding(request: &HttpRequest) -> bool {
    input::padding(request.headers()) == Padding::Wanted
}
