//! Sends webhooks.

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

const TIMEOUT: Duration = Duration::from_secs(10);

/// A message to send to a webhook.
#[derive(Clone, Debug)]
pub struct WebhookMessage {
    /// The receiver's URL.
    pub url: String,
    /// The secret with which to sign the message.
    pub secret: WebhookSecret,
    /// The message ID, which is the same in every attempt so that receivers can detect duplicates.
    pub id: String,
    /// The time of this attempt in Unix seconds.
    pub timestamp: i64,
    /// The JSON body.
    pub body: String,
    /// The `traceparent` of the request that caused the message, if it had one.
    pub traceparent: Option<String>,
}

/// Sends webhooks. Clones share the client.
#[derive(Clone, Debug)]
pub struct WebhookSender {
    client: Client,
    reach: Reach,
}

impl WebhookSender {
    /// Creates a sender. Redirects are never followed.
    ///
    /// # Errors
    /// Returns an error if the HTTP client cannot be built.
    pub fn new(reach: Reach, user_agent: &str) -> Result<Self, reqwest::Error> {
        Ok(Self { client: client::build(&reach, user_agent, Policy::none())?, reach })
    }

    /// Returns whether webhooks can be sent to a URL, judging only by the URL itself.
    pub fn may_name(&self, url: &str) -> bool {
        web_url(url).is_some_and(|url| self.reach.may_name(&url))
    }

    /// Tries once to send a message. It counts as delivered if the receiver responds with 2xx
    /// within ten seconds.
    ///
    /// # Errors
    /// Returns [`DeliveryError::Temporary`] if a later attempt might succeed. This includes targets
    /// that aren't permitted, so that starting a server with a wrong setting doesn't lose messages.
    /// Returns [`DeliveryError::Permanent`] if the URL is invalid or the receiver responds with
    /// 410.
    pub async fn send(&self, message: &WebhookMessage) -> Result<(), DeliveryError> {
        let url = web_url(&message.url);
        let url = url.ok_or_else(|| {
            DeliveryError::permanent("the URL must be http or https, without credentials")
        })?;
        if !self.reach.may_name(&url) {
            return Err(DeliveryError::temporary("the address may not be called"));
        }
        let WebhookMessage { secret, id, timestamp, body, .. } = message;
        let signature = secret.sign(id, *timestamp, body.as_bytes());
        let mut request = self
            .client
            .post(url)
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .header("webhook-id", id)
            .header("webhook-timestamp", timestamp.to_string())
            .header("webhook-signature", signature.as_str())
            .body(Bytes::from(body.clone()));
        if let Some(traceparent) = &message.traceparent {
            request = request.header("traceparent", traceparent);
        }
        match tokio::time::timeout(TIMEOUT, request.send()).await {
            Err(_) => Err(DeliveryError::temporary("no response in time")),
            Ok(Err(error)) if error.is_connect() => Err(DeliveryError::temporary("no connection")),
            Ok(Err(_)) => Err(DeliveryError::temporary("the request failed")),
            Ok(Ok(response)) => check_status(response.status().as_u16()),
        }
    }
}

fn check_status(status: u16) -> Result<(), DeliveryError> {
    match status {
        200..300 => Ok(()),
        410 => Err(DeliveryError::permanent("status 410")),
        _ => Err(DeliveryError::Temporary(format!("status {status}"))),
    }
}
