//! The subscriber's API key.

use actix_web::HttpResponse;
use actix_web::web::Data;

use super::account::page;
use super::failure::PageError;
use super::form::Form;
use super::visitor::{SignedIn, Subscriber};
use crate::app;
use crate::pages::KeyPage;
use crate::state::State;

/// Shows the key.
pub async fn show(visitor: SignedIn, state: Data<State>) -> Result<HttpResponse, PageError> {
    answer(&visitor, &state, None).await
}

/// Issues a new key and revokes the previous one.
pub async fn issue(form: Form<SignedIn>, state: Data<State>) -> Result<HttpResponse, PageError> {
    let Subscriber { id, email } = &form.sender.subscriber;
    let key = app::issue_key(&state, *id, email).await?;
    answer(&form.sender, &state, Some(&key)).await
}

async fn answer(
    visitor: &SignedIn,
    state: &State,
    issued: Option<&str>,
) -> Result<HttpResponse, PageError> {
    let Subscriber { id, email } = &visitor.subscriber;
    let key = app::key_of(state, *id, email).await?;
    let (frame, header) = (visitor.frame("key"), state.settings().key_header());
    Ok(visitor.respond(&page("API key"), &KeyPage { frame, key: &key, issued, header }))
}
