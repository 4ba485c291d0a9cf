//! Error pages.

use actix_web::dev::ServiceResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderValue};
use actix_web::{HttpRequest, HttpResponse, ResponseError};
use shell::pages::Page;

use crate::error::{Error, VerificationError};
use crate::pages::{FailurePage, SITE};

/// The reason a page isn't shown.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// An API error.
    #[error(transparent)]
    Api(#[from] Error),
    /// The visitor has to sign in first.
    #[error("sign in first")]
    SignIn,
    /// The form doesn't have a valid CSRF token.
    #[error("the form has no valid token")]
    Forged,
}

impl From<VerificationError> for PageError {
    fn from(error: VerificationError) -> Self {
        Self::Api(error.into())
    }
}

impl PageError {
    fn words(&self) -> (&'static str, String) {
        match self {
            Self::SignIn => ("Sign in first", "You must be signed in to see this page.".into()),
            Self::Forged => (
                "This form has expired",
                "Go back, reload the page and submit the form again. Your browser has to \
                 accept the cookie of this site."
                    .into(),
            ),
            Self::Api(Error::NotFound) => ("Not found", "This page does not exist.".into()),
            Self::Api(Error::TooMany(seconds)) => {
                ("Too many requests", format!("Try again in {}.", duration(*seconds)))
            }
            Self::Api(Error::Internal(_)) => ("Something went wrong", String::new()),
            Self::Api(error) => ("That did not work", error.body().message),
        }
    }
}

/// Spells out a waiting time.
fn duration(seconds: u64) -> String {
    match seconds {
        0..=1 => "a second".to_owned(),
        2..120 => format!("{seconds} seconds"),
        120..7_200 => format!("{} minutes", seconds.div_ceil(60)),
        _ => format!("{} hours", seconds.div_ceil(3_600)),
    }
}

/// Turns errors into error pages. Browsers also get one if the path or method doesn't exist.
pub fn explain(response: ServiceResponse) -> ServiceResponse {
    let request = response.request();
    let failure = response.response().error().and_then(|error| error.as_error::<PageError>());
    let answer = match failure {
        Some(failure) => failure.answer(request),
        None if response.status() == StatusCode::NOT_FOUND && is_browser(request) => {
            PageError::Api(Error::NotFound).answer(request)
        }
        None if response.status() == StatusCode::METHOD_NOT_ALLOWED && is_browser(request) => {
            let allow = response.headers().get(header::ALLOW);
            let allow = allow.and_then(|allow| allow.to_str().ok()).unwrap_or_default();
            PageError::Api(Error::MethodNotAllowed(allow.to_owned())).answer(request)
        }
        None => return response,
    };
    response.into_response(answer)
}

/// Returns `true` if the client accepts HTML and the path is outside the API. A 404 of the API has
/// an empty body.
fn is_browser(request: &HttpRequest) -> bool {
    let first = request.path().split('/').find(|segment| !segment.is_empty());
    let accepts = || request.headers().get_all(header::ACCEPT);
    !first.is_some_and(|first| first.eq_ignore_ascii_case("api"))
        && accepts().any(|value| {
            value.to_str().is_ok_and(|text| text.to_ascii_lowercase().contains("text/html"))
        })
}

impl PageError {
    fn answer(&self, request: &HttpRequest) -> HttpResponse {
        if matches!(self, Self::SignIn) {
            let to_sign_in = (header::LOCATION, HeaderValue::from_static("/sign-in"));
            return HttpResponse::SeeOther().insert_header(to_sign_in).finish();
        }
        if let Self::Api(cause @ (Error::Internal(_) | Error::Database(_))) = self {
            let id = shell::request_id(request).to_string();
            log::error!(request_id = id.as_str(); "a page failed: {cause}");
        }
        let (title, text) = self.words();
        let root = format!("{}/", shell::base_path(request));
        let page = Page::new(title).root(&root);
        let mut response = SITE.respond(&page, &FailurePage { title, text: &text });
        *response.status_mut() = self.status_code();
        if let Self::Api(Error::TooMany(seconds)) = self {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(*seconds));
        }
        if let Self::Api(Error::MethodNotAllowed(allow)) = self
            && let Ok(allow) = HeaderValue::from_str(allow)
        {
            response.headers_mut().insert(header::ALLOW, allow);
        }
        response
    }
}

impl ResponseError for PageError {
    fn status_code(&self) -> StatusCode {
        match self {
            Self::SignIn => StatusCode::SEE_OTHER,
            Self::Forged => StatusCode::FORBIDDEN,
            Self::Api(error) => error.status_code(),
        }
    }

    /// Sets only the status. [`explain`] renders the page because it has access to the request.
    fn error_response(&self) -> HttpResponse {
        HttpResponse::new(self.status_code())
    }
}
