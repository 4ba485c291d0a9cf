//! Sending of webhooks.

use std::time::Duration;

use bytes::Bytes;
use reqwest::Client;
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use reqwest::redirect::Policy;

use crate::address::web_url;
use crate::client;
use crate::delivery::DeliveryError;
use crate::reach::Reach;
use crate::webhook::WebhookSecret;

/// For the whole of an attempt.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A message to a webhook.
#[derive(Clone, Debug)]
pub struct WebhookMessage {
    /// Where to.
    pub url: String,
    /// What signs it.
    pub secret: WebhookSecret,
    /// The same in every attempt, so that receivers know what they have already.
    pub id: String,
    /// Unix time of this attempt.
    pub timestamp: i64,
    /// JSON.
    pub body: String,
}

/// Sends webhooks; a clone is another handle to the same.
#[derive(Clone, Debug)]
pub struct WebhookSender {
    client: Client,
    reach: Reach,
}

impl WebhookSender {
    /// Makes a sender. Redirects are never followed.
    ///
    /// # Errors
    /// When the HTTP client cannot be made.
    pub fn new(reach: Reach, user_agent: &str) -> Result<Self, reqwest::Error> {
        Ok(Self { client: client::build(&reach, user_agent, Policy::none())?, reach })
    }

    /// Whether webhooks may be sent to an address, as far as its text tells.
    pub fn may_name(&self, url: &str) -> bool {
        web_url(url).is_some_and(|url| self.reach.may_name(&url))
    }

    /// Sends a message once: a POST that is answered within ten seconds by a status of success.
    ///
    /// # Errors
    /// [`DeliveryError::Temporary`] when a later attempt may succeed, also when the address may not be
    /// called: a server that was started without a setting loses no message by that.
    /// [`DeliveryError::Permanent`] when it is no web address, or answers 410 because nobody listens there
    /// any more.
    pub async fn send(&self, message: &WebhookMessage) -> Result<(), DeliveryError> {
        let url = web_url(&message.url);
        let url = url.ok_or_else(|| DeliveryError::permanent("it has no web address"))?;
        if !self.reach.may_name(&url) {
            return Err(DeliveryError::temporary("the address may not be called"));
        }
        let WebhookMessage { secret, id, timestamp, body, .. } = message;
        let signature = secret.sign(id, *timestamp, body.as_bytes());
        let request = self
            .client
            .post(url)
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .header("webhook-id", id)
            .header("webhook-timestamp", timestamp.to_string())
            .header("webhook-signature", signature.as_str())
            .body(Bytes::from(body.clone()));
        match tokio::time::timeout(TIMEOUT, request.send()).await {
            Err(_) => Err(DeliveryError::temporary("no answer in time")),
            Ok(Err(error)) if error.is_connect() => Err(DeliveryError::temporary("no connection")),
            Ok(Err(_)) => Err(DeliveryError::temporary("the exchange failed")),
            Ok(Ok(response)) => judged(response.status().as_u16()),
        }
    }
}

fn judged(status: u16) -> Result<(), DeliveryError> {
    match status {
        200..300 => Ok(()),
        410 => Err(DeliveryError::permanent("status 410")),
        _ => Err(DeliveryError::Temporary(format!("status {status}"))),
    }
}
