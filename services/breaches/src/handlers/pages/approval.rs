//! The page behind the link that proves control of a domain.

use actix_web::HttpResponse;
use actix_web::web::Data;
use shell::pages::Page;

use super::failure::PageError;
use super::form::{Fields, Form};
use super::visitor::Visitor;
use crate::app::{self, Approval};
use crate::pages::{ApprovePage, Message, done};
use crate::state::State;

/// The navigation has no such page.
const CURRENT: &str = "";

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
pub async fn form(
    visitor: Visitor,
    fields: Fields,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let token = fields.text("token");
    Ok(match app::approval(&state, token).await? {
        Approval::Open { owner, domain } => {
            let page = Page::new("Approve").script("approve.js");
            let csrf = visitor.csrf();
            let main = ApprovePage { owner: &owner, domain: &domain, csrf: &csrf, token };
            visitor.respond(&page, &main)
        }
        Approval::Closed => visitor.tell(CURRENT, &FAILED),
        Approval::Unknown => visitor.tell(CURRENT, &INVALID),
    })
}

/// Verifies the domain of a link.
pub async fn approve(form: Form<Visitor>, state: Data<State>) -> Result<HttpResponse, PageError> {
    let Form { sender: visitor, fields } = form;
    Ok(match app::approve(&state, fields.text("token")).await? {
        Approval::Open { owner, domain } => {
            let text = format!("{owner} may search {domain} now.");
            visitor.tell(CURRENT, &done("Verified", &text))
        }
        Approval::Closed => visitor.tell(CURRENT, &FAILED),
        Approval::Unknown => visitor.tell(CURRENT, &INVALID),
    })
}
