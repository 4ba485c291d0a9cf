//! Error pages.

use actix_web::dev::ServiceRequest;
use actix_web::http::Method;
use actix_web::http::header::{self, HeaderValue};
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, ResponseError};
use askama::Template;
use shell::base_url;
use shell::pages::Page;

use super::frame::{Frame, selected};
use super::site::SITE;
use crate::error::Error;
use crate::model::language::{Language, Words, sentences};
use crate::model::urls::{NAMESPACE, Urls};
use crate::state::State;
use crate::wire::pages::embed::EmbedQuery;
use crate::wire::pages::query::DAY;

#[derive(Template)]
#[template(path = "failure.html")]
struct FailurePage<'a> {
    title: &'a str,
    text: &'a str,
    root: &'a str,
    lang: &'a str,
    words: &'a Words,
}

/// Renders an error page. If it is in place of an embeddable page, `ancestors` are the sites that
/// are allowed to embed it.
pub fn failure(error: &Error, name: &str, frame: &Frame, ancestors: Option<&str>) -> HttpResponse {
    if let Error::Internal(cause) = error {
        log::error!("cannot render a page: {cause}");
    }
    let (title, text) = texts(error, frame.language);
    let page = match ancestors {
        Some(ancestors) => Page::new(title)
            .publisher(name, "")
            .embedded("embed.css", EmbedQuery::default().class(), ancestors)
            .script("embed-size.js"),
        None => Page::new(title).publisher(name, name).wide(),
    };
    let page = frame.around(page.unindexed());
    let (root, lang, words) = (&*frame.root, &*frame.query, frame.language.words());
    let main = FailurePage { title, text: &text, root, lang, words };
    let mut response = SITE.respond(&page, &main);
    *response.status_mut() = error.status_code();
    if let Some(seconds) = error.retry_after() {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

fn texts(error: &Error, language: Language) -> (&'static str, String) {
    let words = language.words();
    match error {
        Error::NoRoute | Error::NoSuchPage(_) | Error::EventNotFound => {
            (words.not_found, words.not_found_text.to_owned())
        }
        Error::Parameters(errors) => {
            let texts = errors.invalid.iter().map(|invalid| match invalid.name {
                "categories" => words.no_such_category.to_owned(),
                "start_date" | "end_date" => words.no_such_day.to_owned(),
                "tags" => words.no_such_tag.to_owned(),
                "date" if invalid.text == DAY => words.invalid_day.to_owned(),
                "search" => (words.invalid_search)(&invalid.text),
                name => (words.invalid)(name, &invalid.text),
            });
            let text = texts.reduce(|text, next| sentences(&text, &next));
            (words.not_shown, text.unwrap_or_default())
        }
        Error::TooManyRequests(seconds) => {
            let seconds = language.count(i64::try_from(*seconds).unwrap_or(i64::MAX));
            (words.too_many, (words.try_again_in)(seconds))
        }
        Error::ListTakesTooLong => (words.slow_search, words.slow_search_text.to_owned()),
        error if error.retry_after().is_some() => (words.busy, words.busy_text.to_owned()),
        error if error.status_code().is_server_error() => {
            (words.failed, words.failed_text.to_owned())
        }
        error => (words.rejected, (words.rejected_text)(&error.to_string())),
    }
}

/// Root paths of APIs. Below these, unknown paths always get JSON errors, even if the client
/// accepts HTML.
const API_ROOTS: [&str; 2] = [NAMESPACE, "wp-json"];

/// Returns whether to respond to an unknown path with an HTML page. This requires that the client
/// accepts HTML and that the path isn't below an API root.
pub fn is_wanted(request: &ServiceRequest) -> bool {
    let accepted = request.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok());
    let path = request.path().trim_start_matches('/');
    let below = |root: &str| {
        path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    matches!(*request.method(), Method::GET | Method::HEAD)
        && accepted.is_some_and(|types| types.contains("text/html"))
        && !API_ROOTS.into_iter().any(below)
}

/// Renders the page for an unknown path.
pub fn not_found(request: &HttpRequest) -> HttpResponse {
    let settings = request.app_data::<Data<State>>().map(|state| &state.site.settings);
    let name = settings.map_or("Calendar", |settings| settings.site_name.as_str());
    let chosen = settings.and_then(|settings| selected(request, settings));
    let default = settings.map_or(Language::En, |settings| settings.site_locale);
    let urls = Urls { base: base_url(request), language: chosen, ..Urls::default() };
    failure(&Error::NoRoute, name, &Frame::new(&urls, chosen.unwrap_or(default)), None)
}
