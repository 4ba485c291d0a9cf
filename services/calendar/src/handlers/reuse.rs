//! Caches responses in memory, and reuses them until they are outdated or the content changes.

use std::sync::Arc;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::ServiceResponse;
use actix_web::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, ETAG, HeaderMap, HeaderName, HeaderValue,
    IF_MODIFIED_SINCE, IF_NONE_MATCH,
};
use actix_web::http::{Method, StatusCode};
use actix_web::web::{Bytes, Data};
use actix_web::{HttpMessage as _, HttpRequest, HttpResponse};
use shell::metrics::RouteLabel;
use shell::{EntityTag, base_url, is_known};

use super::input::ByAlias;
use crate::app::{KeptAnswer, PresentAnswers, Request, kept_answer};
use crate::error::Error;
use crate::metrics::{self, AnswerSource};
use crate::model::month::{DAY, midnight};
use crate::model::urls::Urls;
use crate::policy::CREDENTIALS;
use crate::state::State;
use crate::wire::parameters::UNDATED;
use crate::wire::params::Params;

/// Maximum size of a cached body in bytes.
const LONGEST: usize = 1 << 20;

/// Maximum number of compressed versions to keep per response.
const MAX_FORMS: usize = 4;

/// Maximum length in bytes of an `Accept-Encoding` header for which a compressed version is cached.
const LONGEST_ACCEPTED: usize = 100;

/// How long a response is valid if the content doesn't change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasting {
    /// The response doesn't depend on the time.
    Always,
    /// The response depends on the day, both in the site's time zone and in UTC.
    Day,
    /// The response depends on the exact time.
    Second,
}

impl Lasting {
    /// Returns how long an event list is valid. Its default dates depend on the current day.
    pub fn of_events(params: &Params) -> Lasting {
        let is_undated = params.members().keys().all(|name| UNDATED.contains(&name.as_str()));
        if is_undated { Lasting::Day } else { Lasting::Second }
    }

    /// Returns how long a list of venues or organizers is valid.
    pub fn of_linked(params: &Params) -> Lasting {
        match params.get("only_with_upcoming") {
            Some(_) => Lasting::Second,
            None => Lasting::Always,
        }
    }

    /// Returns how long a list of terms is valid.
    pub fn of_terms(_: &Params) -> Lasting {
        Lasting::Always
    }

    /// Returns a number that changes when responses become outdated.
    fn period(self, state: &State) -> i64 {
        let now = state.clock.now();
        match self {
            Lasting::Always => 0,
            Lasting::Day => {
                let day = state.site.settings.site_timezone.wall(now).date();
                // The local midnight is a multiple of the seconds in a day, so the sum encodes both
                // the local and the UTC day.
                midnight(day) + now.as_second().div_euclid(DAY)
            }
            Lasting::Second => now.as_second(),
        }
    }
}

/// A read operation whose response might be cached.
pub struct Reuse<'a> {
    http: &'a HttpRequest,
    state: &'a State,
    /// Everything that the response depends on. `None` if the response must not be cached.
    key: Option<String>,
    /// A page's route. `None` for API operations, which are identified by path.
    route: Option<String>,
    lasting: Lasting,
}

impl<'a> Reuse<'a> {
    /// Describes an API read by the caller of this request.
    pub fn of(
        http: &'a HttpRequest,
        state: &'a State,
        request: &Request,
        lasting: fn(&Params) -> Lasting,
    ) -> Reuse<'a> {
        let lasting = request.params.as_ref().map_or(Lasting::Second, lasting);
        Reuse::new(http, state, (request.login.as_deref(), &request.urls), lasting)
    }

    /// Describes a page request. Pages look the same to all callers.
    pub fn of_page(
        http: &'a HttpRequest,
        state: &'a State,
        urls: &Urls,
        lasting: Lasting,
    ) -> Reuse<'a> {
        let route = http.match_pattern();
        Reuse { route, ..Reuse::new(http, state, (None, urls), lasting) }
    }

    fn new(
        http: &'a HttpRequest,
        state: &'a State,
        (login, urls): (Option<&str>, &Urls),
        lasting: Lasting,
    ) -> Reuse<'a> {
        let is_kept = state.answers.is_some() && may_be_kept(http);
        let key = is_kept.then(|| key(http, login, (&urls.base, urls.alias)));
        Reuse { http, state, key, route: None, lasting }
    }

    /// Responds from the cache, or generates a new response.
    pub async fn answer(
        self,
        make: impl Future<Output = Result<HttpResponse, Error>>,
    ) -> Result<HttpResponse, Error> {
        let Reuse { http, state, key, route, lasting } = self;
        let Some(mut key) = key else { return make.await };
        let known = http.extensions().get::<PresentAnswers>().cloned();
        let present = match known {
            Some(known) => Some(known),
            None => PresentAnswers::of(state).await?,
        };
        let Some(present) = present else { return make.await };
        let kept = Keeper { present, period: lasting.period(state), route, lasting };
        let current = |request: &str| {
            kept_answer(state, request).filter(|found| kept.present.is_current(found, kept.period))
        };
        if let Some(found) = find(&mut key, http.headers(), current) {
            metrics::count_answer(AnswerSource::Memory);
            return Ok(respond(kept, key, found.answer, http.headers()));
        }
        metrics::count_answer(AnswerSource::Made);
        Ok(keep(&kept, key, make.await?))
    }
}

/// Responds from the cache before the request is routed. Returns `None` if the request has to be
/// routed, e.g. because the response isn't cached or is outdated.
///
/// This saves most of the work for repeated requests. Requests with credentials are always routed.
pub async fn answer_early(http: &HttpRequest) -> Option<HttpResponse> {
    let state = http.app_data::<Data<State>>()?;
    let headers = http.headers();
    let has_credentials = CREDENTIALS.iter().any(|name| headers.contains_key(name));
    if state.answers.is_none() || has_credentials || !may_be_kept(http) {
        return None;
    }
    let is_alias = http.extensions().contains::<ByAlias>();
    let mut key = key(http, None, (&base_url(http), is_alias));
    let found = find(&mut key, headers, |request| kept_answer::<Answer>(state, request))?;
    let form = found.answer.form(headers)?;
    // If this fails, the handler tries again and responds with the error.
    state.gate.admit(http).await.ok()?;
    let present = PresentAnswers::of(state).await.ok()??;
    if !present.is_current(&found, found.answer.lasting.period(state)) {
        // Saves the handler from reading the content version again.
        http.extensions_mut().insert(present);
        return None;
    }
    if let Some(route) = &found.answer.route {
        http.extensions_mut().insert(RouteLabel(route.clone().into()));
    }
    metrics::count_answer(AnswerSource::Memory);
    Some(found.answer.respond(form))
}

/// Returns whether the response can be cached. Requests with date conditions are too rare to be
/// worth it, and passwords don't belong in memory.
fn may_be_kept(http: &HttpRequest) -> bool {
    let headers = http.headers();
    let by_date = headers.contains_key(IF_MODIFIED_SINCE) && !headers.contains_key(IF_NONE_MATCH);
    *http.method() == Method::GET && !by_date && !has_password(http.query_string())
}

/// Returns whether a query string contains a password, even if the parameter's name is
/// percent-encoded.
fn has_password(query: &str) -> bool {
    let mut pairs = url::form_urlencoded::parse(query.as_bytes());
    query.contains("password")
        || (query.contains('%') && pairs.any(|(name, _)| name.contains("password")))
}

/// Builds a key from everything in a request that affects its response, except for conditional
/// headers.
///
/// The path might still have a trailing slash if the request hasn't been routed yet.
fn key(http: &HttpRequest, login: Option<&str>, (base, is_alias): (&str, bool)) -> String {
    let caller = login.unwrap_or_default();
    let prefix = if is_alias { "alias" } else { "" };
    let (path, query) = (http.path().trim_end_matches('/'), http.query_string());
    // None of these can contain a line feed.
    [caller, prefix, base, path, query].join("\n")
}

/// Key suffix for responses to clients that already have the content.
const UNCHANGED: &str = "\n304";

/// A full response, or a 304 without a body.
#[derive(Clone)]
struct Answer {
    status: StatusCode,
    tag: Option<EntityTag>,
    /// See [`Reuse::route`].
    route: Option<String>,
    lasting: Lasting,
    plain: Form,
    /// Compressed versions, each with the `Accept-Encoding` header of the requests it is for.
    packed: Vec<(HeaderValue, Form)>,
}

/// The headers and body of a response, in one encoding.
#[derive(Clone)]
struct Form {
    headers: Vec<(HeaderName, HeaderValue)>,
    body: Bytes,
}

/// Finds the full response or the 304 for a request with these headers. Afterwards, `key` is the
/// key of the response that was found.
fn find(
    key: &mut String,
    headers: &HeaderMap,
    get: impl Fn(&str) -> Option<KeptAnswer<Answer>>,
) -> Option<KeptAnswer<Answer>> {
    if !headers.contains_key(IF_NONE_MATCH) {
        return get(key);
    }
    let is_known = |found: &KeptAnswer<Answer>| {
        found.answer.tag.as_ref().is_some_and(|tag| is_known(headers, tag, None))
    };
    let length = key.len();
    key.push_str(UNCHANGED);
    if let Some(found) = get(key).filter(is_known) {
        return Some(found);
    }
    key.truncate(length);
    get(key).filter(|found| !is_known(found))
}

/// The cached responses, and the period during which a current response is valid.
#[derive(Clone)]
struct Keeper {
    present: PresentAnswers,
    period: i64,
    route: Option<String>,
    lasting: Lasting,
}

/// A cached response that might be compressed for this client, but whose compressed version isn't
/// cached yet.
struct Unpacked {
    kept: Keeper,
    key: String,
    answer: Arc<Answer>,
    accepted: HeaderValue,
}

/// Responds from the cache. Uses the compressed version for the client's `Accept-Encoding` if there
/// is one.
fn respond(kept: Keeper, key: String, answer: Arc<Answer>, headers: &HeaderMap) -> HttpResponse {
    if let Some(form) = answer.form(headers) {
        return answer.respond(form);
    }
    let mut response = answer.respond(&answer.plain);
    let Some(accepted) = only(headers, &ACCEPT_ENCODING) else { return response };
    let has_room = answer.packed.len() < MAX_FORMS && accepted.len() <= LONGEST_ACCEPTED;
    if has_room {
        let accepted = accepted.clone();
        response.extensions_mut().insert(Unpacked { kept, key, answer, accepted });
    }
    response
}

/// Caches the compressed version of a cached response, so that it is only compressed once.
pub fn keep_packed(mut response: ServiceResponse) -> ServiceResponse {
    let unpacked = response.response_mut().extensions_mut().remove::<Unpacked>();
    let Some(Unpacked { kept, key, answer, accepted }) = unpacked else { return response };
    if !response.headers().contains_key(CONTENT_ENCODING) {
        return response;
    }
    let (request, response) = response.into_parts();
    let (head, body) = split(response);
    let body = match body {
        Ok(body) => {
            let mut answer = Answer::clone(&answer);
            answer.packed.push((accepted, Form::new(head.headers(), body.clone())));
            put(&kept, key, answer);
            BoxBody::new(body)
        }
        Err(body) => body,
    };
    let response = head.set_body(body);
    ServiceResponse::new(request, response)
}

/// Caches a new response if its body is short and in memory.
fn keep(kept: &Keeper, mut key: String, response: HttpResponse) -> HttpResponse {
    let status = response.status();
    match status {
        StatusCode::OK => {}
        StatusCode::NOT_MODIFIED => key.push_str(UNCHANGED),
        _ => return response,
    }
    let (head, body) = split(response);
    let body = match body {
        Ok(body) => body,
        Err(body) => return head.set_body(body),
    };
    if body.len() <= LONGEST && !is_private(head.headers()) {
        let tag = head.headers().get(ETAG).and_then(tag);
        let plain = Form::new(head.headers(), body.clone());
        let (route, lasting) = (kept.route.clone(), kept.lasting);
        put(kept, key, Answer { status, tag, route, lasting, plain, packed: Vec::new() });
    }
    head.set_body(BoxBody::new(body))
}

/// Splits a response into its head and body. If the body isn't in memory, it is returned as an
/// error.
fn split(response: HttpResponse) -> (HttpResponse<()>, Result<Bytes, BoxBody>) {
    let (head, body) = response.into_parts();
    (head, body.try_into_bytes())
}

fn put(kept: &Keeper, key: String, answer: Answer) {
    let bytes = answer.bytes();
    kept.present.put(key, kept.period, Arc::new(answer), bytes);
}

/// Returns the value of a header if the request contains that header exactly once.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h HeaderValue> {
    let mut values = headers.get_all(name);
    values.next().filter(|_| values.next().is_none())
}

fn is_private(headers: &HeaderMap) -> bool {
    headers.get(CACHE_CONTROL).is_some_and(|value| value.as_bytes() == b"no-store")
}

impl Answer {
    /// Returns the approximate memory use in bytes.
    fn bytes(&self) -> usize {
        let packed: usize = self.packed.iter().map(|(_, form)| form.bytes()).sum();
        size_of::<Answer>() + self.plain.bytes() + packed
    }

    /// Returns the version for this client, or `None` if the response might have to be compressed
    /// first.
    fn form(&self, headers: &HeaderMap) -> Option<&Form> {
        if self.plain.body.is_empty() || !headers.contains_key(ACCEPT_ENCODING) {
            return Some(&self.plain);
        }
        let accepted = only(headers, &ACCEPT_ENCODING)?;
        let form = self.packed.iter().find(|(known, _)| known == accepted);
        form.map(|(_, form)| form)
    }

    fn respond(&self, form: &Form) -> HttpResponse {
        let mut response = match self.status {
            StatusCode::NOT_MODIFIED => HttpResponse::NotModified().finish(),
            status => HttpResponse::build(status).body(form.body.clone()),
        };
        for (name, value) in &form.headers {
            response.headers_mut().append(name.clone(), value.clone());
        }
        response
    }
}

impl Form {
    fn new(headers: &HeaderMap, body: Bytes) -> Form {
        let headers = headers.iter().map(|(name, value)| (name.clone(), value.clone()));
        Form { headers: headers.collect(), body }
    }

    /// Returns the approximate memory use of the headers and the body, in bytes.
    fn bytes(&self) -> usize {
        let headers = self.headers.iter().map(|(name, value)| name.as_str().len() + value.len());
        let headers: usize =
            headers.map(|length| length + size_of::<(HeaderName, HeaderValue)>()).sum();
        size_of::<(HeaderValue, Form)>() + headers + self.body.len()
    }
}

/// Parses an `ETag` header.
fn tag(value: &HeaderValue) -> Option<EntityTag> {
    let text = value.to_str().ok()?;
    let text = text.strip_prefix("W/").unwrap_or(text);
    Some(EntityTag::new(text.strip_prefix('"')?.strip_suffix('"')?))
}
