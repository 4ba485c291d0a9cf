//! Signing in by a link in a mail, and out.

use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use shell::pages::Page;

use super::failure::PageError;
use super::form::Fields;
use super::messages::{Confirm, DEAD_LINK, Message, email, see_other};
use super::visitor::Visitor;
use crate::app;
use crate::state::State;

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInPage<'a> {
    csrf: &'a str,
}

/// Asks for an address.
pub async fn form(request: HttpRequest, state: Data<State>) -> Result<HttpResponse, PageError> {
    let visitor = Visitor::of(&request, &state).await?;
    if visitor.subscriber.is_some() {
        return Ok(see_other("/account"));
    }
    let page = Page::new("Sign in").current("account");
    Ok(visitor.respond(&page, &SignInPage { csrf: &visitor.csrf() }))
}

/// Sends the link; the answer is the same whether the address is known.
pub async fn send(
    request: HttpRequest,
    payload: Payload,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let visitor = Visitor::of(&request, &state).await?;
    let fields = Fields::read(&request, payload).await?;
    visitor.check(&fields)?;
    let address = email(fields.text("email"))?;
    app::sign_in_link(&state, visitor.client, &address).await?;
    let sent = Message {
        title: "Look into your mails",
        text: "A link to sign in is on its way. It works once and for 15 minutes.",
        kind: "good",
        next: None,
    };
    Ok(visitor.respond(&Page::new(sent.title).current("account"), &sent))
}

/// Shows the button that uses a link.
pub async fn confirm_form(
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let visitor = Visitor::of(&request, &state).await?;
    let fields = Fields::of_query(&request);
    let main = Confirm {
        title: "Sign in",
        text: "One click and you are signed in.",
        action: "/sign-in/confirm",
        token: fields.text("token"),
        button: "Sign in",
    };
    Ok(visitor.respond(&Page::new(main.title).current("account"), &main))
}

/// Uses a link and begins a session.
pub async fn confirm(
    request: HttpRequest,
    payload: Payload,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let visitor = Visitor::of(&request, &state).await?;
    let fields = Fields::read(&request, payload).await?;
    match app::sign_in(&state, fields.text("token")).await? {
        Some(session) => {
            let mut response = see_other("/account");
            visitor.begin(&mut response, &session.token, session.lifetime);
            Ok(response)
        }
        None => Ok(visitor.respond(&Page::new(DEAD_LINK.title).current("account"), &DEAD_LINK)),
    }
}

/// Ends the session.
pub async fn sign_out(
    request: HttpRequest,
    payload: Payload,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let visitor = Visitor::of(&request, &state).await?;
    visitor.check(&Fields::read(&request, payload).await?)?;
    app::sign_out(&state, visitor.session()).await?;
    let mut response = see_other("/");
    visitor.end(&mut response);
    Ok(response)
}
