//! Notices about new breaches. They are requested on a page and turned off with a link.

use actix_web::HttpResponse;
use actix_web::web::Data;
use shell::pages::Page;

use super::failure::PageError;
use super::form::{Fields, Form, Unsubscribe};
use super::visitor::Visitor;
use crate::app::{self, Unsubscribed};
use crate::pages::{Confirm, DEAD_LINK, Message, NotifyMePage, done, mail_sent};
use crate::state::State;

/// Name of this page in the navigation.
const CURRENT: &str = "notify-me";

/// Unsubscribe links can be used repeatedly, and visitors cannot request a new one.
const DEAD_UNSUBSCRIBE_LINK: Message<'_> = Message {
    text: "It is incomplete or has expired. Use the link in the latest email, or sign in and turn \
           notices off.",
    next: Some(("/account/notifications", "Notifications")),
    ..DEAD_LINK
};

/// Shows the form.
pub async fn form(visitor: Visitor) -> HttpResponse {
    let page = Page::new("Notify me").current(CURRENT);
    visitor.respond(&page, &NotifyMePage { csrf: &visitor.csrf() })
}

/// Emails a confirmation link.
pub async fn send(form: Form<Visitor>, state: Data<State>) -> Result<HttpResponse, PageError> {
    app::ask_for_notices(&state, form.sender.client, &form.fields.email()?).await?;
    let text = "Confirm with the link in the email. It can be used once and expires in 24 hours.";
    Ok(form.sender.message(CURRENT, &mail_sent(text)))
}

/// Shows the confirmation button.
pub async fn confirm_form(
    visitor: Visitor,
    fields: Fields,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let token = fields.text("token");
    let Some(address) = app::wants_notices(&state, token).await? else {
        return Ok(visitor.message(CURRENT, &DEAD_LINK));
    };
    let text = format!("{address} will receive an email when it appears in a new breach.");
    let csrf = visitor.csrf();
    let main = Confirm {
        title: "Confirm notices",
        text: &text,
        action: "/notify-me/confirm",
        csrf: &csrf,
        token,
        button: "Notify me",
    };
    Ok(visitor.respond(&Page::new(main.title).current(CURRENT), &main))
}

/// Turns on notices.
pub async fn confirm(form: Form<Visitor>, state: Data<State>) -> Result<HttpResponse, PageError> {
    let Form { sender: visitor, fields } = form;
    let Some(address) = app::confirm_notices(&state, fields.text("token")).await? else {
        return Ok(visitor.refuse(CURRENT, &DEAD_LINK));
    };
    let text = format!("{address} will receive notices about new breaches.");
    let next = Some(("/", "Look it up now"));
    Ok(visitor.message(CURRENT, &Message { next, ..done("Notices are on", &text) }))
}

/// Shows the unsubscribe button.
pub async fn unsubscribe_form(visitor: Visitor, fields: Fields) -> HttpResponse {
    let csrf = visitor.csrf();
    let main = Confirm {
        title: "Unsubscribe",
        text: "You will no longer receive these emails.",
        action: "/unsubscribe",
        csrf: &csrf,
        token: fields.text("token"),
        button: "Unsubscribe",
    };
    visitor.respond(&Page::new(main.title).current(CURRENT), &main)
}

/// Turns off notices, for both the button and email clients.
pub async fn unsubscribe(
    request: Unsubscribe,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let (visitor, token) = match request {
        Unsubscribe::OneClick { sender, token } => (sender, token),
        Unsubscribe::Form(Form { sender, fields }) => (sender, fields.text("token").to_owned()),
    };
    let text = match app::unsubscribe(&state, &token).await? {
        None => return Ok(visitor.refuse(CURRENT, &DEAD_UNSUBSCRIBE_LINK)),
        Some(Unsubscribed::Address(address)) => format!("{address} no longer receives notices."),
        Some(Unsubscribed::Domain(domain)) => {
            format!("You no longer receive emails about {domain}.")
        }
        Some(Unsubscribed::Reports(domain)) => {
            format!("You no longer receive monthly emails about {domain}.")
        }
    };
    Ok(visitor.message(CURRENT, &done("Notices are off", &text)))
}
