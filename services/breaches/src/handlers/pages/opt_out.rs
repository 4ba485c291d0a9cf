//! Opt-outs by the owner of an address.

use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use shell::pages::Page;

use super::failure::PageError;
use super::form::Fields;
use super::messages::{DEAD_LINK, Message, email};
use super::visitor::Visitor;
use crate::app;
use crate::error::Error;
use crate::model::OptOut;
use crate::state::State;

#[derive(Template)]
#[template(path = "opt_out.html")]
struct OptOutPage<'a> {
    csrf: &'a str,
}

#[derive(Template)]
#[template(path = "opt_out_choose.html")]
struct ChoosePage<'a> {
    address: &'a str,
    token: &'a str,
}

fn page(title: &str) -> Page<'_> {
    Page::new(title).current("opt-out")
}

/// Asks for an address.
pub async fn form(request: HttpRequest, state: Data<State>) -> Result<HttpResponse, PageError> {
    let visitor = Visitor::of(&request, &state).await?;
    Ok(visitor.respond(&page("Opt out"), &OptOutPage { csrf: &visitor.csrf() }))
}

/// Sends the link to the choices.
pub async fn send(
    request: HttpRequest,
    payload: Payload,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let visitor = Visitor::of(&request, &state).await?;
    let fields = Fields::read(&request, payload).await?;
    visitor.check(&fields)?;
    app::ask_for_opt_out(&state, visitor.client, &email(fields.text("email"))?).await?;
    let sent = Message {
        title: "Look into your mails",
        text: "The mail has a link to your choices. It works once and for 24 hours.",
        kind: "good",
        next: None,
    };
    Ok(visitor.respond(&page(sent.title), &sent))
}

/// Shows the three choices.
pub async fn choose_form(
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let visitor = Visitor::of(&request, &state).await?;
    let fields = Fields::of_query(&request);
    let token = fields.text("token");
    let Some(address) = app::opt_out_link(&state, token).await? else {
        return Ok(visitor.respond(&page(DEAD_LINK.title), &DEAD_LINK));
    };
    Ok(visitor.respond(&page("Choose"), &ChoosePage { address: &address, token }))
}

/// Carries out a choice; after deletion nobody is signed in.
pub async fn choose(
    request: HttpRequest,
    payload: Payload,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let visitor = Visitor::of(&request, &state).await?;
    let fields = Fields::read(&request, payload).await?;
    let choice = match fields.text("kind") {
        "public" => OptOut::Public,
        "breaches" => OptOut::Breaches,
        "delete" => OptOut::Delete,
        _ => return Err(PageError::Api(Error::Unreadable)),
    };
    let Some(address) = app::choose_opt_out(&state, fields.text("token"), choice).await? else {
        return Ok(visitor.respond(&page(DEAD_LINK.title), &DEAD_LINK));
    };
    let text = match choice {
        OptOut::Public => format!("Public searches do not find {address} any more."),
        OptOut::Breaches => {
            format!("Everything about {address} was removed, and later breaches will not add it.")
        }
        OptOut::Delete => format!("Everything about {address} was removed."),
    };
    let done = Message { title: "Done", text: &text, kind: "good", next: None };
    let mut response = visitor.respond(&page(done.title), &done);
    if choice == OptOut::Delete {
        visitor.end(&mut response);
    }
    Ok(response)
}
