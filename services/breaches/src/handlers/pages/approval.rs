//! The page that domain approval links lead to.

use actix_web::HttpResponse;
use actix_web::web::Data;
use shell::pages::Page;

use super::failure::PageError;
use super::form::{Fields, Form};
use super::visitor::Visitor;
use crate::app::{self, Approval};
use crate::pages::{ApprovePage, Message, done};
use crate::state::State;

/// This page isn't part of the navigation.
const CURRENT: &str = "";

const FAILED: Message<'_> = Message {
    title: "Not verified",
    text: "This link was already used or has expired. Request a new email.",
    kind: "warn",
    next: None,
};

const INVALID: Message<'_> = Message {
    title: "Not verified",
    text: "This link does not exist. Copy the complete link from the email.",
    kind: "bad",
    next: None,
};

/// Asks for approval and shows which subscriber made the request. The form is submitted by its
/// button, or by a script after a few seconds. Opening the link isn't enough, because email
/// scanners follow links.
pub async fn form(
    visitor: Visitor,
    fields: Fields,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let token = fields.text("token");
    Ok(match app::approval(&state, token).await? {
        Approval::Open { owner, domain, .. } => {
            let page = Page::new("Approve").script("approve.js");
            let csrf = visitor.csrf();
            let main = ApprovePage { owner: &owner, domain: &domain, csrf: &csrf, token };
            visitor.respond(&page, &main)
        }
        Approval::Closed => visitor.message(CURRENT, &FAILED),
        Approval::Unknown => visitor.message(CURRENT, &INVALID),
    })
}

/// Verifies the domain.
pub async fn approve(form: Form<Visitor>, state: Data<State>) -> Result<HttpResponse, PageError> {
    let Form { sender: visitor, fields } = form;
    Ok(match app::approve(&state, fields.text("token")).await? {
        Approval::Open { owner, domain, .. } => {
            let text = format!("{owner} may now search {domain}.");
            visitor.message(CURRENT, &done("Verified", &text))
        }
        Approval::Closed => visitor.refuse(CURRENT, &FAILED),
        Approval::Unknown => visitor.refuse(CURRENT, &INVALID),
    })
}
