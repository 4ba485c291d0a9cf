//! Webhooks of a subscriber.

use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::account::page;
use super::account_frame::Frame;
use super::failure::PageError;
use super::form::Fields;
use super::messages::see_other;
use super::visitor::Visitor;
use crate::app::{self, WebhookView};
use crate::model::instant;
use crate::state::State;

#[derive(Template)]
#[template(path = "webhooks.html")]
struct WebhooksPage<'a> {
    frame: Frame,
    webhooks: &'a [WebhookView],
    url: &'a str,
    secret: Option<&'a str>,
    error: Option<&'a str>,
}

impl WebhooksPage<'_> {
    fn date(&self, seconds: &i64) -> String {
        instant::date(*seconds)
    }
}

/// Lists the webhooks.
pub async fn list(request: HttpRequest, state: Data<State>) -> Result<HttpResponse, PageError> {
    answer(&request, &state, "", None, None).await
}

/// Adds a webhook and shows its secret once.
pub async fn add(
    request: HttpRequest,
    payload: Payload,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let (visitor, subscriber) = Visitor::signed_in(&request, &state).await?;
    let fields = Fields::read(&request, payload).await?;
    visitor.check(&fields)?;
    let url = fields.text("url").trim();
    match app::add_webhook(&state, subscriber.id, url).await? {
        Ok(secret) => answer(&request, &state, url, Some(&secret), None).await,
        Err(error) => answer(&request, &state, url, None, Some(error)).await,
    }
}

/// Removes a webhook.
pub async fn remove(
    request: HttpRequest,
    payload: Payload,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let (visitor, subscriber) = Visitor::signed_in(&request, &state).await?;
    let fields = Fields::read(&request, payload).await?;
    visitor.check(&fields)?;
    app::remove_webhook(&state, subscriber.id, fields.text("url")).await?;
    Ok(see_other("/account/webhooks"))
}

async fn answer(
    request: &HttpRequest,
    state: &State,
    url: &str,
    secret: Option<&str>,
    error: Option<&str>,
) -> Result<HttpResponse, PageError> {
    let (visitor, subscriber) = Visitor::signed_in(request, state).await?;
    let webhooks = app::webhooks(state, subscriber.id).await?;
    let frame = visitor.frame(&subscriber, "webhooks");
    let main = WebhooksPage { frame, webhooks: &webhooks, url, secret, error };
    Ok(visitor.respond(&page("Webhooks"), &main))
}
