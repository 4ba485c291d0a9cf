//! The breach lookup service. It finds the data breaches that contain an address or a domain.
//!
//! The checks in `policy` and `app::admission` query the database once per request. The catalogue,
//! opt-outs and block list are cached in memory (`state::Snapshot`) and reloaded when their version
//! numbers in the database change. Loads and other long-running work are in `jobs`. Operators use
//! subcommands of the same binary ([`Cli`]).

mod app;
mod cli;
mod config;
mod error;
mod external;
mod handlers;
pub mod jobs;
mod metrics;
pub mod model;
mod openapi;
mod pages;
mod policy;
mod routes;
mod service;
mod state;
pub mod store;
mod wire;

pub use app::{add_subscriber, opt_in, opt_out, remove_link, verify_domain};
pub use cli::Cli;
pub use config::Settings;
pub use external::{
    DnsRecords, External, FolderMailer, Mail, MailError, Mailer, SiteError, SiteFetcher,
    SiteRequest, SmtpMailer, TxtRecords, Websites,
};
pub use policy::Access;
pub use routes::access;
pub use service::Breaches;
pub use state::State;
