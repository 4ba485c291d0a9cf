//! Pages with a message and at most one button, and what several pages read.

use actix_web::HttpResponse;
use actix_web::http::header::{self, HeaderValue};
use askama::Template;
use domain::DomainName;

use super::failure::PageError;
use crate::error::Error;

/// A page with a heading and a sentence.
#[derive(Template)]
#[template(path = "message.html")]
pub struct Message<'a> {
    /// Heading.
    pub title: &'a str,
    /// Sentence.
    pub text: &'a str,
    /// `good`, `bad`, `warn` or nothing.
    pub kind: &'a str,
    /// Where to go on: a path and what it is called.
    pub next: Option<(&'a str, &'a str)>,
}

/// A link of a mail that was opened: a button carries it out.
#[derive(Template)]
#[template(path = "confirm.html")]
pub struct Confirm<'a> {
    /// Heading.
    pub title: &'a str,
    /// What the button does, in a sentence.
    pub text: &'a str,
    /// Path of the form.
    pub action: &'a str,
    /// The token of forms.
    pub csrf: &'a str,
    /// The secret of the link.
    pub token: &'a str,
    /// Text of the button.
    pub button: &'a str,
}

/// A link of a mail that is worth nothing any more.
pub const DEAD_LINK: Message<'_> = Message {
    title: "This link does not work",
    text: "It was used already, or it is too old. Ask for a new one.",
    kind: "warn",
    next: None,
};

/// A mail is on its way.
pub fn mail_sent(text: &str) -> Message<'_> {
    Message { title: "Look into your mails", text, kind: "good", next: None }
}

/// Something was done.
pub fn done<'a>(title: &'a str, text: &'a str) -> Message<'a> {
    Message { title, text, kind: "good", next: None }
}

/// Goes on to another page, whose path is one of the site; the shell adds that of `PUBLIC_URL`.
pub fn see_other(path: &str) -> HttpResponse {
    let mut response = HttpResponse::SeeOther().finish();
    let path = HeaderValue::from_str(path).unwrap_or(HeaderValue::from_static("/"));
    response.headers_mut().insert(header::LOCATION, path);
    response
}

/// The domain in a path.
///
/// # Errors
/// [`Error::NotFound`].
pub fn domain(text: &str) -> Result<DomainName, PageError> {
    DomainName::parse(text).map_err(|_| PageError::Api(Error::NotFound))
}
