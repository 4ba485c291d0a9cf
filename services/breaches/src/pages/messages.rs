//! Pages with one message and at most one button.

use askama::Template;

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
    /// The next page: path and label.
    pub next: Option<(&'a str, &'a str)>,
}

/// A mail link with a button that consumes it.
#[derive(Template)]
#[template(path = "confirm.html")]
pub struct Confirm<'a> {
    /// Heading.
    pub title: &'a str,
    /// The effect of the button.
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

/// A mail link that is used or expired.
pub const DEAD_LINK: Message<'_> = Message {
    title: "This link does not work",
    text: "It was already used or has expired. Request a new one.",
    kind: "warn",
    next: None,
};

/// Asks the visitor to check their mail.
pub fn mail_sent(text: &str) -> Message<'_> {
    Message { title: "Check your mail", text, kind: "good", next: None }
}

/// Reports success.
pub fn done<'a>(title: &'a str, text: &'a str) -> Message<'a> {
    Message { title, text, kind: "good", next: None }
}

/// The page of a failed request.
#[derive(Template)]
#[template(path = "failure.html")]
pub struct FailurePage<'a> {
    pub title: &'a str,
    pub text: &'a str,
}
