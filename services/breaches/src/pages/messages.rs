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

/// The page of a failed request.
#[derive(Template)]
#[template(path = "failure.html")]
pub struct FailurePage<'a> {
    pub title: &'a str,
    pub text: &'a str,
}
