#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod answer;
mod caching;
mod clock;
mod contract;
#[cfg(feature = "database")]
mod database;
mod dns_peer;
mod fixtures;
mod folder;
mod http_peer;
mod links;
mod log_secrets;
mod must;
mod process;
mod program;
mod random;
mod raw;
mod server;
mod settings;
mod smtp_peer;
mod stops;
mod tcp_proxy;
mod wait;

pub use answer::{Answer, Exchange};
pub use caching::assert_caching;
pub use clock::clock;
pub use contract::assert_openapi_matches;
#[cfg(feature = "database")]
pub use database::Database;
pub use dns_peer::DnsPeer;
pub use fixtures::Fixture;
pub use folder::Folder;
pub use http_peer::{HttpPeer, PeerAnswer, PeerRequest};
pub use links::links_below;
pub use log_secrets::log_without;
pub use process::{Process, Served};
pub use program::{Program, Ran};
pub use random::Random;
pub use raw::{RawAnswer, exchange};
pub use server::{TestServer, client};
pub use settings::assert_settings_have_ranges;
pub use smtp_peer::{Mail, SmtpPeer};
pub use stops::stop_under_load;
pub use tcp_proxy::TcpProxy;
pub use wait::{until, until_blocking};
