//! Reuse of answers: a read is answered from memory until the content or the time changes the answer.

use std::sync::Arc;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::http::header::{
    CACHE_CONTROL, ETAG, HeaderMap, HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH,
};
use actix_web::http::{Method, StatusCode};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse};
use shell::{EntityTag, is_known};

use crate::app::{PresentAnswers, Request};
use crate::error::Error;
use crate::metrics::{self, AnswerSource};
use crate::model::month::{DAY, midnight};
use crate::model::urls::Urls;
use crate::state::State;
use crate::wire::params::Params;

/// Maximum size in bytes of a body that is kept.
const LONGEST: usize = 1 << 20;

/// Parameters of event lists that have the same meaning at any time of a day. With any other one,
/// an answer is reused within a second.
const UNDATED: [&str; 16] = [
    "page",
    "per_page",
    "search",
    "categories",
    "tags",
    "venue",
    "organizer",
    "featured",
    "status",
    "geoloc",
    "include",
    "post_parent",
    "ticketed",
    "order",
    "orderby",
    "_fields",
];

/// How long an answer stays the same while the content does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasting {
    /// It does not depend on the time.
    Always,
    /// It depends on the day, in the site's time zone or in UTC.
    Day,
    /// It depends on the time.
    Second,
}

impl Lasting {
    /// Returns how long a list of events stays the same. Its default dates depend on the day.
    pub fn of_events(params: &Params) -> Lasting {
        let is_undated = params.members().keys().all(|name| UNDATED.contains(&name.as_str()));
        if is_undated { Lasting::Day } else { Lasting::Second }
    }

    /// Returns how long a list of venues or organizers stays the same.
    pub fn of_linked(params: &Params) -> Lasting {
        match params.get("only_with_upcoming") {
            Some(_) => Lasting::Second,
            None => Lasting::Always,
        }
    }

    /// Returns how long a list of terms stays the same.
    pub fn of_terms(_: &Params) -> Lasting {
        Lasting::Always
    }

    /// Returns a number that changes with the period.
    fn period(self, state: &State) -> i64 {
        let now = state.clock.now();
        match self {
            Lasting::Always => 0,
            Lasting::Day => {
                let day = state.site.settings.site_timezone.wall(now).date();
                // The first is a multiple of the seconds of a day, so the sum has both.
                midnight(day) + now.as_second().div_euclid(DAY)
            }
            Lasting::Second => now.as_second(),
        }
    }
}

/// A read whose answer may be in memory.
pub struct Reuse<'a> {
    http: &'a HttpRequest,
    state: &'a State,
    /// Everything on which the answer depends; `None` if it is not kept.
    key: Option<String>,
    lasting: Lasting,
}

impl<'a> Reuse<'a> {
    /// Describes a read of the API by the caller of a request.
    pub fn of(
        http: &'a HttpRequest,
        state: &'a State,
        request: &Request,
        lasting: fn(&Params) -> Lasting,
    ) -> Reuse<'a> {
        let lasting = request.params.as_ref().map_or(Lasting::Second, lasting);
        Reuse::new(http, state, (request.login.as_deref(), &request.urls), lasting)
    }

    /// Describes a read of a page, which is the same for all callers.
    pub fn of_page(
        http: &'a HttpRequest,
        state: &'a State,
        urls: &Urls,
        lasting: Lasting,
    ) -> Reuse<'a> {
        Reuse::new(http, state, (None, urls), lasting)
    }

    fn new(
        http: &'a HttpRequest,
        state: &'a State,
        (login, urls): (Option<&str>, &Urls),
        lasting: Lasting,
    ) -> Reuse<'a> {
        let is_kept = state.answers.is_some() && may_be_kept(http);
        Reuse { http, state, key: is_kept.then(|| key(http, login, urls)), lasting }
    }

    /// Returns the answer from memory, or makes it.
    pub async fn answer(
        self,
        make: impl Future<Output = Result<HttpResponse, Error>>,
    ) -> Result<HttpResponse, Error> {
        let Reuse { http, state, key, lasting } = self;
        let Some(key) = key else { return make.await };
        let kept = PresentAnswers::of(state, lasting.period(state)).await?;
        let Some(kept) = kept else { return make.await };
        if let Some(answer) = find(&kept, &key, http.headers()) {
            metrics::count_answer(AnswerSource::Memory);
            return Ok(answer.respond());
        }
        metrics::count_answer(AnswerSource::Made);
        Ok(keep(&kept, key, make.await?))
    }
}

/// Returns whether the answer to a request may be kept. Dates of clients are rare, and passwords do
/// not belong in memory.
fn may_be_kept(http: &HttpRequest) -> bool {
    let headers = http.headers();
    let by_date = headers.contains_key(IF_MODIFIED_SINCE) && !headers.contains_key(IF_NONE_MATCH);
    *http.method() == Method::GET && !by_date && !http.query_string().contains("password")
}

/// Returns everything of a request on which its answer depends, except for conditions.
fn key(http: &HttpRequest, login: Option<&str>, urls: &Urls) -> String {
    let caller = login.unwrap_or_default();
    let prefix = if urls.alias { "alias" } else { "" };
    let (base, path, query) = (&urls.base, http.path(), http.query_string());
    // No part can contain a line feed.
    format!("{caller}\n{prefix}\n{base}\n{path}\n{query}")
}

/// Returns the key of the answer to clients that have the content.
fn unchanged(key: &str) -> String {
    format!("{key}\n304")
}

/// A complete answer, or one without a body to clients that have the content.
struct Answer {
    status: StatusCode,
    headers: Vec<(HeaderName, HeaderValue)>,
    tag: Option<EntityTag>,
    body: Bytes,
}

/// Finds the answer to a request with these headers.
fn find(kept: &PresentAnswers<'_>, key: &str, headers: &HeaderMap) -> Option<Arc<Answer>> {
    if !headers.contains_key(IF_NONE_MATCH) {
        return kept.get(key);
    }
    let is_known =
        |answer: &Arc<Answer>| answer.tag.as_ref().is_some_and(|tag| is_known(headers, tag, None));
    match kept.get(&unchanged(key)).filter(is_known) {
        Some(answer) => Some(answer),
        None => kept.get(key).filter(|answer| !is_known(answer)),
    }
}

/// Keeps a new answer if its body is in memory and short.
fn keep(kept: &PresentAnswers<'_>, key: String, response: HttpResponse) -> HttpResponse {
    let status = response.status();
    let key = match status {
        StatusCode::OK => key,
        StatusCode::NOT_MODIFIED => unchanged(&key),
        _ => return response,
    };
    let (head, body) = response.into_parts();
    let body = match body.try_into_bytes() {
        Ok(body) => body,
        Err(body) => return head.set_body(body),
    };
    if body.len() <= LONGEST && !is_private(head.headers()) {
        let answer = Arc::new(Answer::new(status, head.headers(), body.clone()));
        kept.put(key, answer.clone(), answer.bytes());
    }
    head.set_body(BoxBody::new(body))
}

fn is_private(headers: &HeaderMap) -> bool {
    headers.get(CACHE_CONTROL).is_some_and(|value| value.as_bytes() == b"no-store")
}

impl Answer {
    fn new(status: StatusCode, headers: &HeaderMap, body: Bytes) -> Answer {
        let copied = headers.iter().map(|(name, value)| (name.clone(), value.clone()));
        Answer { status, headers: copied.collect(), tag: headers.get(ETAG).and_then(tag), body }
    }

    /// Returns the bytes of memory, about: the body and the headers.
    fn bytes(&self) -> usize {
        let headers = self.headers.iter().map(|(name, value)| name.as_str().len() + value.len());
        let headers: usize =
            headers.map(|length| length + size_of::<(HeaderName, HeaderValue)>()).sum();
        size_of::<Answer>() + headers + self.body.len()
    }

    fn respond(&self) -> HttpResponse {
        let mut response = match self.status {
            StatusCode::NOT_MODIFIED => HttpResponse::NotModified().finish(),
            status => HttpResponse::build(status).body(self.body.clone()),
        };
        for (name, value) in &self.headers {
            response.headers_mut().append(name.clone(), value.clone());
        }
        response
    }
}

/// Reads an `ETag`.
fn tag(value: &HeaderValue) -> Option<EntityTag> {
    let text = value.to_str().ok()?;
    let text = text.strip_prefix("W/").unwrap_or(text);
    Some(EntityTag::new(text.strip_prefix('"')?.strip_suffix('"')?))
}
