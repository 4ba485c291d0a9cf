//! Pages that consist of a message and at most one button.

use askama::Template;

/// A page that consists of a heading and a sentence.
#[derive(Template)]
#[template(path = "message.html")]
pub struct Message<'a> {
    /// Heading of the page.
    pub title: &'a str,
    /// The sentence below the heading.
    pub text: &'a str,
    /// CSS class of the sentence: `good`, `bad`, `warn` or empty.
    pub kind: &'a str,
    /// The page to continue with, as (path, label).
    pub next: Option<(&'a str, &'a str)>,
}

/// The page of a mail link, with a button that consumes the link.
#[derive(Template)]
#[template(path = "confirm.html")]
pub struct Confirm<'a> {
    /// Heading of the page.
    pub title: &'a str,
    /// Describes the effect of the button.
    pub text: &'a str,
    /// Path of the form.
    pub action: &'a str,
    /// The CSRF token.
    pub csrf: &'a str,
    /// The secret of the link.
    pub token: &'a str,
    /// Text of the button.
    pub button: &'a str,
}

/// Reports that a mail link was used or has expired.
pub const DEAD_LINK: Message<'_> = Message {
    title: "This link does not work",
    text: "It was already used or has expired. Request a new one.",
    kind: "warn",
    next: None,
};

/// Asks visitors to check their mail.
pub fn mail_sent(text: &str) -> Message<'_> {
    Message { title: "Check your mail", text, kind: "good", next: None }
}

/// Reports success.
pub fn done<'a>(title: &'a str, text: &'a str) -> Message<'a> {
    Message { title, text, kind: "good", next: None }
}

/// The error page of a failed request.
#[derive(Template)]
#[template(path = "failure.html")]
pub struct FailurePage<'a> {
    pub title: &'a str,
    pub text: &'a str,
}
