#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod address;
mod attempt;
mod client;
mod delivery;
mod dispatcher;
mod dns;
mod failures;
mod fetch;
mod lanes;
mod reach;
mod webhook;
mod webhook_sender;

pub use address::{is_public, names_public_host, web_url};
pub use delivery::{
    ATTEMPTS, CLAIM_SECONDS, Claimed, Courier, DeliveryError, Due, Failure, Limits, Outbox,
    OutboxError, PUT_OFF, UNDER_WAY, retry_after,
};
pub use dispatcher::{deliver_due, deliver_forever};
pub use dns::{Dns, DnsError};
pub use fetch::{Download, FetchError, FetchRules, Fetched, Fetcher, RedirectRule};
pub use reach::{Names, Reach};
pub use webhook::{Signature, WebhookSecret};
pub use webhook_sender::{WebhookMessage, WebhookSender};
