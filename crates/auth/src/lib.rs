#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod caller;
mod charge;
mod commands;
mod credential;
mod error;
mod extract;
mod gate;
mod key;
mod key_store;
mod keys;
mod memory;
mod metrics;
mod plan;
mod policy;
mod presented;
mod quota;
mod quotas;
mod schema;
mod settings;
mod turn;

pub use caller::Caller;
pub use charge::Charge;
pub use commands::{
    AnyOwner, KeysCommand, NoColumns, Owners, PlanColumns, PlansCommand, parse_until,
};
pub use credential::{Credential, authorization_key, bearer_key, header_key};
pub use error::{AuthError, KeyError};
pub use extract::After;
pub use gate::Gate;
pub use key::{Key, KeyState, digest, is_well_formed};
pub use key_store::KeyStore;
pub use keys::{
    KeyLimit, find_live, is_live, issue, issue_only, issue_with_text, list_keys, lock_key, revoke,
    revoke_owner, rotate,
};
pub use plan::{Plan, PlanChange, hide_plan, list_plans, plan, seed_plans, set_plan};
pub use policy::Policy;
pub use presented::{Admitted, Finding, Holder, Presented};
pub use quota::{Quota, QuotaId, Rate, Remaining, TooMany};
pub use quotas::Quotas;
pub use settings::ServiceSettings;

use database::Migrations;

/// The migrations that create the tables for keys and plans. List these first in the call to
/// [`DatabaseSettings::open`](database::DatabaseSettings::open).
pub static MIGRATIONS: Migrations = Migrations {
    sqlite: diesel_migrations::embed_migrations!("migrations/sqlite"),
    postgres: diesel_migrations::embed_migrations!("migrations/postgres"),
    tables: &["plan", "api_key"],
};
