//! Notices of new breaches, for everybody: asked for by mail, ended by a link.

use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use shell::pages::Page;

use super::failure::PageError;
use super::form::Fields;
use super::messages::{Confirm, DEAD_LINK, Message, email};
use super::visitor::Visitor;
use crate::app;
use crate::state::State;

#[derive(Template)]
#[template(path = "notify_me.html")]
struct NotifyMePage<'a> {
    csrf: &'a str,
}

fn page(title: &str) -> Page<'_> {
    Page::new(title).current("notify-me")
}

/// Asks for an address.
pub async fn form(request: HttpRequest, state: Data<State>) -> Result<HttpResponse, PageError> {
    let visitor = Visitor::of(&request, &state).await?;
    Ok(visitor.respond(&page("Notify me"), &NotifyMePage { csrf: &visitor.csrf() }))
}

/// Sends the link that confirms.
pub async fn send(
    request: HttpRequest,
    payload: Payload,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let visitor = Visitor::of(&request, &state).await?;
    let fields = Fields::read(&request, payload).await?;
    visitor.check(&fields)?;
    app::ask_for_notices(&state, visitor.client, &email(fields.text("email"))?).await?;
    let sent = Message {
        title: "Look into your mails",
        text: "Confirm with the link in the mail. It works once and for 24 hours.",
        kind: "good",
        next: None,
    };
    Ok(visitor.respond(&page(sent.title), &sent))
}

/// Shows the button that confirms.
pub async fn confirm_form(
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let visitor = Visitor::of(&request, &state).await?;
    let fields = Fields::of_query(&request);
    let token = fields.text("token");
    let Some(address) = app::wants_notices(&state, token).await? else {
        return Ok(visitor.respond(&page(DEAD_LINK.title), &DEAD_LINK));
    };
    let text = format!("{address} will get a mail when it appears in a new breach.");
    let main = Confirm {
        title: "Confirm notices",
        text: &text,
        action: "/notify-me/confirm",
        token,
        button: "Notify me",
    };
    Ok(visitor.respond(&page(main.title), &main))
}

/// Confirms.
pub async fn confirm(
    request: HttpRequest,
    payload: Payload,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let visitor = Visitor::of(&request, &state).await?;
    let fields = Fields::read(&request, payload).await?;
    let Some(address) = app::confirm_notices(&state, fields.text("token")).await? else {
        return Ok(visitor.respond(&page(DEAD_LINK.title), &DEAD_LINK));
    };
    let text = format!("{address} will hear of new breaches.");
    let next = Some(("/", "Look it up now"));
    let done = Message { title: "Notices are on", text: &text, kind: "good", next };
    Ok(visitor.respond(&page(done.title), &done))
}

/// Shows the button that ends notices.
pub async fn unsubscribe_form(
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let visitor = Visitor::of(&request, &state).await?;
    let fields = Fields::of_query(&request);
    let main = Confirm {
        title: "No more notices",
        text: "You will get no more mails about new breaches.",
        action: "/unsubscribe",
        token: fields.text("token"),
        button: "Unsubscribe",
    };
    Ok(visitor.respond(&page(main.title), &main))
}

/// Ends notices.
pub async fn unsubscribe(
    request: HttpRequest,
    payload: Payload,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let visitor = Visitor::of(&request, &state).await?;
    let fields = Fields::read(&request, payload).await?;
    let Some(address) = app::unsubscribe(&state, fields.text("token")).await? else {
        return Ok(visitor.respond(&page(DEAD_LINK.title), &DEAD_LINK));
    };
    let text = format!("{address} gets no more notices.");
    let done = Message { title: "Notices are off", text: &text, kind: "good", next: None };
    Ok(visitor.respond(&page(done.title), &done))
}
