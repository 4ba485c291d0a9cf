//! A subscriber's webhooks.

use database::{DatabaseError, Db};
use outbound::WebhookSecret;

use super::secret_token::digest;
use crate::error::Error;
use crate::model::webhook_url;
use crate::state::State;
use crate::store::{turns, webhooks};

/// Maximum number of webhooks per subscriber.
const MAX: usize = 10;
/// Maximum URL length in bytes.
const MAX_LENGTH: usize = 2_000;

/// A subscriber's webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnWebhook {
    /// The URL that messages are posted to.
    pub url: String,
    /// Creation time in Unix seconds.
    pub created_at: i64,
}

/// Lists a subscriber's webhooks.
///
/// # Errors
/// Returns an error if the query fails.
pub async fn webhooks(state: &State, subscriber: i64) -> Result<Vec<OwnWebhook>, Error> {
    let rows = state.pools().read(move |db| webhooks::of_subscriber(db, subscriber)).await?;
    let view = |row: webhooks::Webhook| OwnWebhook { url: row.url, created_at: row.created_at };
    Ok(rows.into_iter().map(view).collect())
}

/// Adds a webhook and returns its secret, which can't be shown again. The inner error is a message
/// to the subscriber.
///
/// # Errors
/// Returns an error if a query fails.
pub async fn add_webhook(
    state: &State,
    subscriber: i64,
    url: &str,
) -> Result<Result<String, &'static str>, Error> {
    let named = webhook_url::is_plain(url) && state.external().webhooks.may_name(url);
    if url.len() > MAX_LENGTH || !named {
        return Ok(Err("Enter an http or https URL on a public host, at port 80 or 443."));
    }
    let secret = WebhookSecret::generate().map_err(|error| Error::Internal(error.to_string()))?;
    let (text, url, now) = (secret.text(), url.to_owned(), state.clock().unix());
    let add = move |db: &mut Db| -> Result<_, DatabaseError> {
        // The lock ensures that concurrent requests see each other's webhooks.
        turns::take(db, &[digest(&format!("subscriber {subscriber}")).as_slice()])?;
        let known = webhooks::of_subscriber(db, subscriber)?;
        if known.iter().any(|webhook| webhook.url == url) {
            return Ok(Err("A webhook with this URL already exists."));
        }
        if known.len() >= MAX {
            return Ok(Err("You already have ten webhooks. Remove one first."));
        }
        webhooks::add(db, subscriber, &url, &text, now)?;
        Ok(Ok(text))
    };
    Ok(state.pools().write_as(Some(&subscriber.to_string()), add).await?)
}

/// Removes a webhook. Returns `false` if it didn't exist.
///
/// # Errors
/// Returns an error if the query fails.
pub async fn remove_webhook(state: &State, subscriber: i64, url: &str) -> Result<bool, Error> {
    let url = url.to_owned();
    let remove = move |db: &mut Db| webhooks::remove(db, subscriber, &url);
    Ok(state.pools().write_as(Some(&subscriber.to_string()), remove).await?)
}
