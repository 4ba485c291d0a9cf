//! The extractor for API handlers, which provides the caller, the parameters and the base URL.

use actix_web::dev::Payload;
use actix_web::http::Method;
use actix_web::http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, IF_MATCH};
use actix_web::web::Bytes;
use actix_web::{FromRequest, HttpMessage, HttpRequest, web as actix};
use futures_util::future::LocalBoxFuture;
use serde_json::Value;
use shell::{Fault, base_url, media, params, read_body};

use super::multipart;
use crate::app::Request;
use crate::error::Error;
use crate::model::urls::Urls;
use crate::state::State;
use crate::wire::parameter_errors::ParameterErrors;
use crate::wire::params::Params;

/// Maximum body size in bytes.
const BODY_LIMIT: usize = 1 << 20;

/// Marks a request that used the alias prefix.
#[derive(Clone, Copy, Debug)]
pub struct ByAlias;

/// The input of a handler: the request, and which keys to include in the response.
pub struct Input {
    pub request: Request,
    /// The keys to include in the response. `None` includes all of them.
    pub fields: Option<String>,
}

impl FromRequest for Input {
    type Error = actix_web::Error;
    type Future = LocalBoxFuture<'static, Result<Input, actix_web::Error>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (request, payload) = (request.clone(), payload.take());
        Box::pin(async move { Ok(read(&request, payload).await?) })
    }
}

async fn read(request: &HttpRequest, payload: Payload) -> Result<Input, Error> {
    let mut input = head(request).await?;
    if *request.method() == Method::GET {
        return Ok(input);
    }
    // Writes require a user. Without one, the body isn't even read.
    if input.request.login.is_none() {
        return Err(Error::Unauthorized);
    }
    if let Ok(query) = input.request.params {
        // The body takes precedence over the query.
        input.request.params = body(request, payload).await.map(|body| query.overlaid(body));
        input.fields = fields(&input.request.params);
    }
    Ok(input)
}

/// Reads everything except the body.
pub async fn head(request: &HttpRequest) -> Result<Input, Error> {
    let state = request
        .app_data::<actix::Data<State>>()
        .ok_or_else(|| Error::Internal("the state is not registered".to_owned()))?;
    let caller = state.gate.admit(request).await?;
    let login = caller.key.map(|key| key.owner.clone());
    let params = from_form(request.query_string());
    let fields = fields(&params);
    let alias = request.extensions().get::<ByAlias>().is_some();
    let urls = Urls { base: base_url(request), alias, ..Urls::default() };
    let values = request.headers().get_all(IF_MATCH);
    let values: Vec<String> =
        values.filter_map(|value| value.to_str().ok()).map(str::to_owned).collect();
    let if_match = (!values.is_empty()).then_some(values);
    Ok(Input { request: Request { login, params, urls, if_match }, fields })
}

fn fields(params: &Result<Params, Error>) -> Option<String> {
    params.as_ref().ok().and_then(|params| params.text("_fields")).map(str::to_owned)
}

/// Parses a query string or a form body.
pub fn from_form(text: &str) -> Result<Params, Error> {
    let query = params::Input::query(text);
    if let Some(violation) = query.undecodable() {
        return Err(Error::from(&Fault::InvalidQuery(vec![violation])));
    }
    Ok(Params::from_pairs(query.texts()))
}

async fn body(request: &HttpRequest, mut payload: Payload) -> Result<Params, Error> {
    let bytes =
        read_body(request, &mut payload, BODY_LIMIT).await.map_err(|fault| Error::from(&fault))?;
    if bytes.is_empty() {
        return Ok(Params::default());
    }
    let headers = request.headers();
    let kind = essence(headers);
    let is_json =
        kind.starts_with("application/") && headers.get(CONTENT_TYPE).is_some_and(media::is_json);
    let is_form = kind == "application/x-www-form-urlencoded";
    if !is_json && !is_form && kind != "multipart/form-data" {
        return Err(Error::UnsupportedMediaType);
    }
    if is_compressed(headers) {
        return Err(Error::InvalidJson("the body is compressed; send it uncompressed".to_owned()));
    }
    if is_json {
        return from_json(&bytes);
    }
    if is_form {
        return from_form(std::str::from_utf8(&bytes).map_err(|_| not_text())?);
    }
    from_multipart(headers, bytes).await
}

fn not_text() -> Error {
    Error::Parameters(ParameterErrors::one("body", "must be UTF-8"))
}

/// Returns whether the body is compressed.
pub fn is_compressed(headers: &HeaderMap) -> bool {
    headers
        .get_all(CONTENT_ENCODING)
        .any(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity"))
}

/// Returns the media type of the body in lower case, without its parameters.
pub fn essence(headers: &HeaderMap) -> String {
    let essence = headers.get(CONTENT_TYPE).and_then(media::essence);
    essence.unwrap_or_default().to_ascii_lowercase()
}

fn from_json(bytes: &Bytes) -> Result<Params, Error> {
    match serde_json::from_slice(bytes) {
        Ok(value @ Value::Object(_)) => Ok(Params::from_json(value)),
        Ok(_) => Err(Error::InvalidJson("the body must be a JSON object".to_owned())),
        Err(error) => Err(Error::InvalidJson(error.to_string())),
    }
}

/// Reads the text fields of a multipart form, ignoring uploaded files.
async fn from_multipart(headers: &HeaderMap, bytes: Bytes) -> Result<Params, Error> {
    let parts = multipart::parts(headers, bytes).await?;
    let texts = parts.into_iter().filter(|part| part.file_name.is_none());
    let pairs = texts.map(|part| match String::from_utf8(part.content) {
        Ok(text) => Ok((part.name, text)),
        Err(_) => Err(not_text()),
    });
    let pairs: Vec<(String, String)> = pairs.collect::<Result<_, Error>>()?;
    Ok(Params::from_pairs(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str()))))
}
