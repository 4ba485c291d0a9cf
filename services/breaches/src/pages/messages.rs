//! Simple pages with a message and possibly a button.

use askama::Template;

/// A page with only a heading and a sentence.
#[derive(Template)]
#[template(path = "message.html")]
pub struct Message<'a> {
    /// Heading.
    pub title: &'a str,
    /// Sentence below the heading.
    pub text: &'a str,
    /// CSS class of the sentence: `good`, `bad`, `warn` or empty.
    pub kind: &'a str,
    /// Suggested next page as (path, label).
    pub next: Option<(&'a str, &'a str)>,
}

/// Landing page of an email link. Its button uses up the link.
#[derive(Template)]
#[template(path = "confirm.html")]
pub struct Confirm<'a> {
    /// Heading.
    pub title: &'a str,
    /// Text that explains what the button does.
    pub text: &'a str,
    /// Path the form is submitted to.
    pub action: &'a str,
    /// CSRF token.
    pub csrf: &'a str,
    /// The link's secret.
    pub token: &'a str,
    /// Button label.
    pub button: &'a str,
}

/// Displayed if an email link was already used or has expired.
pub const DEAD_LINK: Message<'_> = Message {
    title: "This link does not work",
    text: "It was already used or has expired. Request a new one.",
    kind: "warn",
    next: None,
};

/// Returns a message that asks visitors to check their email.
pub fn mail_sent(text: &str) -> Message<'_> {
    Message { title: "Check your email", text, kind: "good", next: None }
}

/// Returns a message about a success.
pub fn done<'a>(title: &'a str, text: &'a str) -> Message<'a> {
    Message { title, text, kind: "good", next: None }
}

/// An error page.
#[derive(Template)]
#[template(path = "failure.html")]
pub struct FailurePage<'a> {
    pub title: &'a str,
    pub text: &'a str,
}
