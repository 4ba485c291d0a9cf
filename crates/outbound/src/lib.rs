#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod address;
mod client;
mod delivery;
mod dns;
mod failures;
mod fetch;
mod reach;
mod webhook;
mod webhook_sender;

pub use address::{is_public, names_public_host, web_url};
pub use delivery::{
    ATTEMPTS, Courier, DeliveryError, Due, Failure, Outbox, OutboxError, UNDER_WAY, deliver_due,
    deliver_for_ever, retry_after,
};
pub use dns::{Dns, DnsError};
pub use fetch::{Download, FetchError, FetchRules, Fetched, Fetcher, RedirectRule};
pub use reach::{Names, Reach};
pub use webhook::{Signature, WebhookSecret};
pub use webhook_sender::{WebhookMessage, WebhookSender};
