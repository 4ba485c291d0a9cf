//! Lets people opt out.

use actix_web::HttpResponse;
use actix_web::web::Data;
use shell::pages::Page;

use super::failure::PageError;
use super::form::{Fields, Form};
use super::visitor::Visitor;
use crate::app;
use crate::error::Error;
use crate::model::OptOut;
use crate::pages::{ChoosePage, DEAD_LINK, OptOutPage, done, mail_sent};
use crate::state::State;

/// Name of this page in the navigation.
const CURRENT: &str = "opt-out";

/// Shows the form.
pub async fn form(visitor: Visitor) -> HttpResponse {
    let page = Page::new("Opt out").current(CURRENT);
    visitor.respond(&page, &OptOutPage { csrf: &visitor.csrf() })
}

/// Emails a link to the choices.
pub async fn send(form: Form<Visitor>, state: Data<State>) -> Result<HttpResponse, PageError> {
    app::ask_for_opt_out(&state, form.sender.client, &form.fields.email()?).await?;
    let text =
        "The email contains a link to your options. It can be used once and expires in 24 hours.";
    Ok(form.sender.message(CURRENT, &mail_sent(text)))
}

/// Shows the three choices.
pub async fn choose_form(
    visitor: Visitor,
    fields: Fields,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let token = fields.text("token");
    let Some(address) = app::opt_out_link(&state, token).await? else {
        return Ok(visitor.message(CURRENT, &DEAD_LINK));
    };
    let page = Page::new("Choose").current(CURRENT);
    let csrf = visitor.csrf();
    let main = ChoosePage { csrf: &csrf, address: &address, token };
    Ok(visitor.respond(&page, &main))
}

/// Applies a choice. Deleting the data also signs the visitor out.
pub async fn choose(form: Form<Visitor>, state: Data<State>) -> Result<HttpResponse, PageError> {
    let Form { sender: visitor, fields } = form;
    let choice = match fields.text("kind") {
        "public" => OptOut::Public,
        "breaches" => OptOut::Breaches,
        "delete" => OptOut::Delete,
        _ => return Err(PageError::Api(Error::Unreadable)),
    };
    let Some(address) = app::choose_opt_out(&state, fields.text("token"), choice).await? else {
        return Ok(visitor.refuse(CURRENT, &DEAD_LINK));
    };
    let text = match choice {
        OptOut::Public => format!("Public searches no longer find {address}."),
        OptOut::Breaches => format!(
            "The data about {address} was removed, and later breaches will not add it. An account \
             with a plan or a domain stays."
        ),
        OptOut::Delete => format!(
            "The data about {address} was removed. Notices that you requested continue until you \
             unsubscribe, and an account with a plan or a domain stays."
        ),
    };
    let mut response = visitor.message(CURRENT, &done("Done", &text));
    if choice == OptOut::Delete {
        visitor.end(&mut response);
    }
    Ok(response)
}
