//! Error pages.

use actix_web::dev::ServiceRequest;
use actix_web::http::Method;
use actix_web::http::header::{self, HeaderValue};
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, ResponseError};
use askama::Template;
use shell::base_url;
use shell::pages::Page;

use super::site::SITE;
use crate::error::Error;
use crate::model::urls::{NAMESPACE, Urls};
use crate::state::State;

#[derive(Template)]
#[template(path = "failure.html")]
struct FailurePage<'a> {
    title: &'a str,
    text: &'a str,
    root: &'a str,
}

/// Renders an error page.
pub fn failure(error: &Error, name: &str, base: &str) -> HttpResponse {
    if let Error::Internal(cause) = error {
        log::error!("cannot render a page: {cause}");
    }
    let (title, text) = words(error);
    let links = Urls { base: base.to_owned(), alias: false }.relative();
    let root = format!("{}/", links.base);
    let page = Page::new(title).publisher(name, name).root(&root).wide().unindexed();
    let mut response = SITE.respond(&page, &FailurePage { title, text: &text, root: &root });
    *response.status_mut() = error.status_code();
    if let Some(seconds) = error.retry_after() {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

fn words(error: &Error) -> (&'static str, String) {
    match error {
        Error::NoRoute | Error::NoSuchPage(_) | Error::EventNotFound => (
            "Page not found",
            "This page does not exist. It may have moved or may no longer be published.".to_owned(),
        ),
        Error::Parameters(errors) => {
            let texts = errors.invalid.iter().map(|invalid| match invalid.name {
                "categories" => "This category does not exist.".to_owned(),
                "start_date" | "end_date" => "This day is not in the calendar.".to_owned(),
                "tags" => "This tag does not exist.".to_owned(),
                name => format!("The {name} {}.", invalid.text),
            });
            ("This cannot be shown", texts.collect::<Vec<_>>().join(" "))
        }
        Error::TooManyRequests(seconds) => {
            ("Too many requests", format!("Please try again in {seconds} seconds."))
        }
        Error::ListTakesTooLong => (
            "This search takes too long",
            "Please use fewer or rarer words, or try again in a moment.".to_owned(),
        ),
        error if error.retry_after().is_some() => {
            ("The calendar is busy", "Please try again in a moment.".to_owned())
        }
        error if error.status_code().is_server_error() => {
            ("Something went wrong", "The page cannot be shown. Please try again.".to_owned())
        }
        error => ("This did not work", format!("The request was rejected: {error}.")),
    }
}

/// Roots of API paths. Unknown paths below them get JSON errors, regardless of what the client
/// accepts.
const API_ROOTS: [&str; 2] = [NAMESPACE, "wp-json"];

/// Returns whether an unknown path gets an HTML error page: the client accepts HTML, and the path
/// is not below an API root.
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

/// Renders the page for unknown paths.
pub fn not_found(request: &HttpRequest) -> HttpResponse {
    let state = request.app_data::<Data<State>>();
    let name = state.map_or("Calendar", |state| state.site.settings.site_name.as_str());
    failure(&Error::NoRoute, name, &base_url(request))
}
