//! Signing in by email, and signing out.

use actix_web::HttpResponse;
use actix_web::web::Data;
use shell::pages::Page;

use super::failure::PageError;
use super::form::{Fields, Form};
use super::messages::see_other;
use super::visitor::Visitor;
use crate::app;
use crate::pages::{Confirm, DEAD_LINK, SignInPage, mail_sent};
use crate::state::State;

/// Name of this page in the navigation.
const CURRENT: &str = "account";

/// Shows the form.
pub async fn form(visitor: Visitor) -> HttpResponse {
    if visitor.subscriber.is_some() {
        return see_other("/account");
    }
    let page = Page::new("Sign in").current(CURRENT);
    visitor.respond(&page, &SignInPage { csrf: &visitor.csrf() })
}

/// Emails a sign-in link. The response doesn't reveal whether the address is known.
pub async fn send(form: Form<Visitor>, state: Data<State>) -> Result<HttpResponse, PageError> {
    app::sign_in_link(&state, form.sender.client, &form.fields.email()?).await?;
    let text = "We sent you a sign-in link. It can be used once and expires in 15 minutes.";
    Ok(form.sender.message(CURRENT, &mail_sent(text)))
}

/// Shows the sign-in button.
pub async fn confirm_form(visitor: Visitor, fields: Fields) -> HttpResponse {
    let csrf = visitor.csrf();
    let main = Confirm {
        title: "Sign in",
        text: "Press the button to sign in.",
        action: "/sign-in/confirm",
        csrf: &csrf,
        token: fields.text("token"),
        button: "Sign in",
    };
    visitor.respond(&Page::new(main.title).current(CURRENT), &main)
}

/// Uses up the link and starts a session. The CSRF token prevents other sites from signing a
/// visitor in as someone else.
pub async fn confirm(form: Form<Visitor>, state: Data<State>) -> Result<HttpResponse, PageError> {
    let Form { sender: visitor, fields } = form;
    let Some(session) = app::sign_in(&state, fields.text("token")).await? else {
        return Ok(visitor.refuse(CURRENT, &DEAD_LINK));
    };
    let mut response = see_other("/account");
    visitor.begin(&mut response, &session.token, session.lifetime);
    Ok(response)
}

/// Ends the session.
pub async fn sign_out(form: Form<Visitor>, state: Data<State>) -> Result<HttpResponse, PageError> {
    app::sign_out(&state, form.sender.session()).await?;
    let mut response = see_other("/");
    form.sender.end(&mut response);
    Ok(response)
}
