//! The page on which editors manage subscriptions to other calendars. The browser asks editors for
//! their login and key.

use actix_web::http::header::{
    CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION, ORIGIN, WWW_AUTHENTICATE,
};
use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use shell::pages::Page;
use shell::{base_url, read_body};

use super::super::input::{from_form, head};
use super::failure::failure;
use super::frame::{Frame, addresses, selected, translations};
use super::site::SITE;
use crate::app::Request;
use crate::app::subscriptions::{self, Step};
use crate::error::Error;
use crate::model::language::Words;
use crate::model::urls::Urls;
use crate::state::State;
use crate::wire::pages::subscriptions::SubscriptionView;
use crate::wire::parameter_errors::ParameterErrors;
use crate::wire::params::Params;

/// The path of the page.
const PATH: &str = "/subscriptions/";

/// Maximum form size in bytes.
const FORM_LIMIT: usize = 4 << 10;

/// The challenge that makes browsers ask for a login and key.
const ASKS: HeaderValue = HeaderValue::from_static("Basic realm=\"calendar\", charset=\"UTF-8\"");

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

#[derive(Template)]
#[template(path = "subscriptions.html")]
struct SubscriptionsPage<'a> {
    subscriptions: &'a [SubscriptionView],
    words: &'static Words,
    root: &'a str,
    /// The query string for links to other pages.
    lang: &'a str,
}

/// Shows all subscriptions.
pub async fn list(http: HttpRequest, state: Data<State>) -> HttpResponse {
    finished(shown(&http, &state).await, &http, &state)
}

/// Pauses, resumes or runs a subscription, or accepts the events missing from its file, and then
/// shows the page again.
pub async fn change(http: HttpRequest, payload: Payload, state: Data<State>) -> HttpResponse {
    finished(changed(&http, payload, &state).await, &http, &state)
}

fn finished(
    outcome: Result<HttpResponse, Error>,
    http: &HttpRequest,
    state: &State,
) -> HttpResponse {
    outcome.unwrap_or_else(|error| {
        let frame = frame(&Urls { base: base_url(http), ..Urls::default() }, http, state);
        let mut response = failure(&error, &state.site.settings.site_name, &frame, None);
        if matches!(error, Error::Unauthorized | Error::InvalidCredentials) {
            response.headers_mut().insert(WWW_AUTHENTICATE, ASKS);
        }
        response
    })
}

/// Builds the layout in the page language.
fn frame(urls: &Urls, http: &HttpRequest, state: &State) -> Frame {
    let language = selected(http, &state.site.settings);
    let urls = Urls { language, ..urls.clone() };
    Frame::new(&urls, language.unwrap_or(state.site.settings.site_locale))
}

async fn shown(http: &HttpRequest, state: &State) -> Result<HttpResponse, Error> {
    let input = head(http).await?;
    let frame = frame(&input.request.urls, http, state);
    let addresses = addresses(&input.request.urls.base, PATH, &state.site.settings);
    let list = subscriptions::list(state, input.request).await?;
    let (name, words) = (&state.site.settings.site_name, frame.language.words());
    let views = list.subscriptions.iter().map(|one| SubscriptionView::new(one, frame.language));
    let views: Vec<SubscriptionView> = views.collect();
    let page = Page::new(words.subscriptions).publisher(name, name).wide().unindexed();
    let page = frame.around(page).translations(translations(&addresses));
    let (root, lang) = (&*frame.root, &*frame.query);
    Ok(SITE.respond(&page, &SubscriptionsPage { subscriptions: &views, words, root, lang }))
}

async fn changed(
    http: &HttpRequest,
    payload: Payload,
    state: &State,
) -> Result<HttpResponse, Error> {
    let input = head(http).await?;
    let location = format!("{PATH}{}", frame(&input.request.urls, http, state).query);
    // Browsers would also send the key with a form from another site.
    if !is_own_form(http.headers(), &input.request.urls.base) {
        return Err(Error::Forbidden);
    }
    let form = form(http, payload).await?;
    let id = form.text("id").and_then(|id| id.parse().ok()).unwrap_or(0);
    let step = match form.text("step").unwrap_or_default() {
        "run" => Step::Run,
        "pause" => Step::Pause,
        "resume" => Step::Resume,
        "accept" => Step::Accept,
        _ => return Err(ParameterErrors::one("step", "must be a known step").into()),
    };
    let request = Request { params: Ok(Params::default()), ..input.request };
    subscriptions::take_step(state, request, id, step).await?;
    // The shell prepends the path of PUBLIC_URL.
    let mut response = HttpResponse::SeeOther();
    Ok(response.insert_header((LOCATION, location)).finish())
}

/// Returns whether the form came from one of our own pages.
fn is_own_form(headers: &HeaderMap, base: &str) -> bool {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let own = url::Url::parse(base).map(|url| url.origin().ascii_serialization());
    match text(ORIGIN) {
        Some(origin) => own.is_ok_and(|own| own == origin),
        None => text(SEC_FETCH_SITE) == Some("same-origin"),
    }
}

async fn form(http: &HttpRequest, payload: Payload) -> Result<Params, Error> {
    let kind = http.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    if !kind.is_some_and(|kind| kind.starts_with(b"application/x-www-form-urlencoded")) {
        return Err(Error::UnsupportedMediaType);
    }
    let mut payload = payload.into_inner();
    let bytes = read_body(http, &mut payload, FORM_LIMIT).await;
    let bytes = bytes.map_err(|fault| Error::from(&fault))?;
    let text = std::str::from_utf8(&bytes);
    from_form(text.map_err(|_| ParameterErrors::one("form", "must be UTF-8"))?)
}
