//! The subscriber's webhooks.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::Data;

use super::account::page;
use super::failure::PageError;
use super::form::Form;
use super::messages::see_other;
use super::visitor::{SignedIn, refused};
use crate::app;
use crate::pages::WebhooksPage;
use crate::state::State;

/// Lists the webhooks.
pub async fn list(visitor: SignedIn, state: Data<State>) -> Result<HttpResponse, PageError> {
    answer(&visitor, &state, "", None, None).await
}

/// Adds a webhook and shows its secret. This is the only time the secret is shown.
pub async fn add(form: Form<SignedIn>, state: Data<State>) -> Result<HttpResponse, PageError> {
    let (visitor, url) = (&form.sender, form.fields.text("url").trim());
    match app::add_webhook(&state, visitor.subscriber.id, url).await? {
        Ok(secret) => answer(visitor, &state, url, Some(&secret), None).await,
        Err(error) => answer(visitor, &state, url, None, Some(error)).await,
    }
}

/// Removes a webhook.
pub async fn remove(form: Form<SignedIn>, state: Data<State>) -> Result<HttpResponse, PageError> {
    app::remove_webhook(&state, form.sender.subscriber.id, form.fields.text("url")).await?;
    Ok(see_other("/account/webhooks"))
}

async fn answer(
    visitor: &SignedIn,
    state: &State,
    url: &str,
    secret: Option<&str>,
    error: Option<&str>,
) -> Result<HttpResponse, PageError> {
    let webhooks = app::webhooks(state, visitor.subscriber.id).await?;
    let frame = visitor.frame("webhooks");
    let main = WebhooksPage { frame, webhooks: &webhooks, url, secret, error };
    let response = visitor.respond(&page("Webhooks"), &main);
    Ok(match error {
        Some(_) => refused(StatusCode::UNPROCESSABLE_ENTITY, response),
        None => response,
    })
}
