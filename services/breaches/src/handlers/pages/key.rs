//! The API key of a subscriber.

use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::account::page;
use super::account_frame::Frame;
use super::failure::PageError;
use super::form::Fields;
use super::visitor::Visitor;
use crate::app::{self, KeyView};
use crate::model::instant;
use crate::state::State;

#[derive(Template)]
#[template(path = "key.html")]
struct KeyPage<'a> {
    frame: Frame,
    key: &'a KeyView,
    issued: Option<&'a str>,
    header: &'a str,
}

impl KeyPage<'_> {
    fn date(&self, seconds: &i64) -> String {
        instant::date(*seconds)
    }
}

/// What is known of the key.
pub async fn show(request: HttpRequest, state: Data<State>) -> Result<HttpResponse, PageError> {
    answer(&request, &state, None).await
}

/// Makes a key, which ends the older one.
pub async fn issue(
    request: HttpRequest,
    payload: Payload,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let (visitor, subscriber) = Visitor::signed_in(&request, &state).await?;
    visitor.check(&Fields::read(&request, payload).await?)?;
    let key = app::issue_key(&state, subscriber.id, &subscriber.email).await?;
    answer(&request, &state, Some(&key)).await
}

async fn answer(
    request: &HttpRequest,
    state: &State,
    issued: Option<&str>,
) -> Result<HttpResponse, PageError> {
    let (visitor, subscriber) = Visitor::signed_in(request, state).await?;
    let key = app::key_of(state, subscriber.id, &subscriber.email).await?;
    let (frame, header) = (visitor.frame(&subscriber, "key"), state.settings().key_header());
    Ok(visitor.respond(&page("API key"), &KeyPage { frame, key: &key, issued, header }))
}
