//! Database queries, one file per group of tables.

pub mod account_links;
pub mod accounts;
pub(crate) mod admin_events;
pub mod blocks;
pub mod breaches;
pub mod cluster;
pub mod domain_accounts;
pub mod domain_controls;
pub mod domain_inheritance;
pub mod jobs;
pub mod key_holders;
pub(crate) mod known_keys;
pub(crate) mod layout;
pub(crate) mod lease;
pub mod load_connections;
pub(crate) mod mail_counts;
pub mod mail_domains;
pub(crate) mod mail_tokens;
pub mod messages;
pub(crate) mod monthly_reports;
pub(crate) mod notices;
pub mod opt_outs;
pub mod pastes;
pub mod plan_features;
pub(crate) mod reader_cache;
pub mod schema;
pub(crate) mod server_keys;
pub(crate) mod sessions;
pub(crate) mod shard;
pub mod stealer_logs;
pub mod subscribers;
pub(crate) mod suppressed_links;
pub(crate) mod traces;
pub(crate) mod turns;
pub mod unfiled_accounts;
pub(crate) mod untold_pastes;
pub(crate) mod unused_domains;
pub mod versions;
pub mod webhooks;

pub use layout::Layout;

use database::Migrations;
use diesel_migrations::embed_migrations;

/// Our migrations. They run after those of `auth`, because on PostgreSQL they add triggers to its
/// tables.
pub static MIGRATIONS: Migrations = Migrations {
    sqlite: embed_migrations!("migrations/sqlite"),
    postgres: embed_migrations!("migrations/postgres"),
    tables: &[
        "breach",
        "account",
        "paste",
        "opt_out",
        "subscriber",
        "subscription",
        "domain_control",
        "meta",
    ],
};
