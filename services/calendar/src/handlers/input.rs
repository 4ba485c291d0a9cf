//! The extractor of every handler: who asks, with which parameters, under which base URL.

use actix_multipart::Multipart;
use actix_web::dev::Payload;
use actix_web::http::Method;
use actix_web::http::header::{CONTENT_TYPE, HeaderMap, IF_MATCH};
use actix_web::web::Bytes;
use actix_web::{FromRequest, HttpMessage, HttpRequest, web as actix};
use futures_util::future::LocalBoxFuture;
use futures_util::{StreamExt, TryStreamExt};
use shell::{Fault, base_url, media, params, read_body};

use crate::app::Request;
use crate::error::Error;
use crate::state::State;
use crate::wire::parameter_errors::ParameterErrors;
use crate::wire::params::Params;
use crate::wire::urls::Urls;

/// The largest body, in bytes.
const BODY_LIMIT: usize = 1 << 20;

/// Marks a request that came by the alias prefix.
#[derive(Clone, Copy, Debug)]
pub struct ByAlias;

/// What every handler takes: the request, and how its answer is cut down.
pub struct Input {
    pub request: Request,
    /// Keys that the answer is cut down to.
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
    let state = request
        .app_data::<actix::Data<State>>()
        .ok_or_else(|| Error::Internal("the state is not registered".to_owned()))?;
    let caller = state.gate.admit(request).await?;
    let login = caller.key.map(|key| key.owner.clone());
    let params = parameters(request, payload).await;
    let fields = params.as_ref().ok().and_then(|params| params.text("_fields"));
    let fields = fields.map(str::to_owned);
    let alias = request.extensions().get::<ByAlias>().is_some();
    let urls = Urls { base: base_url(request), alias };
    let values = request.headers().get_all(IF_MATCH);
    let values: Vec<String> =
        values.filter_map(|value| value.to_str().ok()).map(str::to_owned).collect();
    let if_match = (!values.is_empty()).then_some(values);
    Ok(Input { request: Request { login, params, urls, if_match }, fields })
}

/// Reads the query, and over it the body of everything but GET.
async fn parameters(request: &HttpRequest, payload: Payload) -> Result<Params, Error> {
    let query = from_form(request.query_string())?;
    if *request.method() == Method::GET {
        return Ok(query);
    }
    Ok(query.overlaid(body(request, payload).await?))
}

/// Reads the pairs of a query or a form.
pub fn from_form(text: &str) -> Result<Params, Error> {
    let query = params::Input::query(text);
    if let Some(violation) = query.undecodable() {
        return Err(Error::from(&Fault::InvalidQuery(vec![violation])));
    }
    Ok(Params::from_pairs(query.texts()))
}

async fn body(request: &HttpRequest, mut payload: Payload) -> Result<Params, Error> {
    let kind = essence(request.headers());
    let bytes =
        read_body(request, &mut payload, BODY_LIMIT).await.map_err(|fault| Error::from(&fault))?;
    match kind.as_str() {
        "application/json" => from_json(&bytes),
        "application/x-www-form-urlencoded" => {
            let text = std::str::from_utf8(&bytes).map_err(|_| not_text())?;
            from_form(text)
        }
        "multipart/form-data" => from_multipart(request.headers(), bytes).await,
        _ => Ok(Params::default()),
    }
}

fn not_text() -> Error {
    Error::Parameters(ParameterErrors::one("body", "must be UTF-8"))
}

fn essence(headers: &HeaderMap) -> String {
    let essence = headers.get(CONTENT_TYPE).and_then(media::essence);
    essence.unwrap_or_default().to_ascii_lowercase()
}

fn from_json(bytes: &Bytes) -> Result<Params, Error> {
    if bytes.is_empty() {
        return Ok(Params::default());
    }
    let value =
        serde_json::from_slice(bytes).map_err(|error| Error::InvalidJson(error.to_string()))?;
    Ok(Params::from_json(value))
}

/// Reads the text parts of a form; parts with a file name are left out.
async fn from_multipart(headers: &HeaderMap, bytes: Bytes) -> Result<Params, Error> {
    let stream = futures_util::stream::once(async move { Ok(bytes) }).boxed_local();
    let mut parts = Multipart::new(headers, stream);
    let broken = |error: actix_multipart::MultipartError| Error::InvalidJson(error.to_string());
    let mut pairs: Vec<(String, String)> = Vec::new();
    while let Some(mut part) = parts.try_next().await.map_err(broken)? {
        let disposition = part.content_disposition();
        let file = disposition.is_some_and(|it| it.get_filename().is_some());
        let name = disposition.and_then(|it| it.get_name()).map(str::to_owned);
        let mut content = Vec::new();
        while let Some(chunk) = part.try_next().await.map_err(broken)? {
            content.extend_from_slice(&chunk);
        }
        if let (Some(name), false) = (name, file) {
            pairs.push((name, String::from_utf8(content).map_err(|_| not_text())?));
        }
    }
    Ok(Params::from_pairs(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str()))))
}
