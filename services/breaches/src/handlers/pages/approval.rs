//! The page behind the link that proves control of a domain.

use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use shell::pages::Page;

use super::failure::PageError;
use super::form::Fields;
use super::messages::Message;
use super::visitor::Visitor;
use crate::app::{self, Approval};
use crate::state::State;

#[derive(Template)]
#[template(path = "approve.html")]
struct ApprovePage<'a> {
    owner: &'a str,
    domain: &'a str,
    token: &'a str,
}

const FAILED: Message<'_> = Message {
    title: "Not verified",
    text: "This link was used already, or it is too old. Ask for a new mail.",
    kind: "warn",
    next: None,
};

const INVALID: Message<'_> = Message {
    title: "Not verified",
    text: "There is no such link. Copy it from the mail as a whole.",
    kind: "bad",
    next: None,
};

/// Looks at a link and asks, by a script that sends the form at once or by its button. Looking does
/// not verify: scanners of mails open links.
pub async fn form(request: HttpRequest, state: Data<State>) -> Result<HttpResponse, PageError> {
    let visitor = Visitor::of(&request, &state).await?;
    let fields = Fields::of_query(&request);
    let token = fields.text("token");
    Ok(match app::approval(&state, token).await? {
        Approval::Open { owner, domain } => {
            let page = Page::new("Approve").script("approve.js");
            visitor.respond(&page, &ApprovePage { owner: &owner, domain: &domain, token })
        }
        Approval::Closed => visitor.respond(&Page::new(FAILED.title), &FAILED),
        Approval::Unknown => visitor.respond(&Page::new(INVALID.title), &INVALID),
    })
}

/// Verifies the domain of a link.
pub async fn approve(
    request: HttpRequest,
    payload: Payload,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let visitor = Visitor::of(&request, &state).await?;
    let fields = Fields::read(&request, payload).await?;
    Ok(match app::approve(&state, fields.text("token")).await? {
        Approval::Open { owner, domain } => {
            let text = format!("{owner} may search {domain} now.");
            let done = Message { title: "Verified", text: &text, kind: "good", next: None };
            visitor.respond(&Page::new(done.title), &done)
        }
        Approval::Closed => visitor.respond(&Page::new(FAILED.title), &FAILED),
        Approval::Unknown => visitor.respond(&Page::new(INVALID.title), &INVALID),
    })
}
