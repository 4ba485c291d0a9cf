//! Who is calling, and how often they may.
//!
//! A service with API keys gets from this crate the tables of keys and plans with their
//! migrations ([`MIGRATIONS`]), a [`KeyStore`] that recognises keys, [`Quotas`] that count
//! requests, the [`Caller`] extractor that ties them together, and the subcommands `keys` and
//! `plans` ([`KeysCommand`], [`PlansCommand`]). It has no such table of its own, only further
//! columns keyed by plan code or owner.
//!
//! # Keys
//!
//! A key is 128 random bits, written as 32 lower-case hexadecimal digits and accepted in any case.
//! Only the SHA-256 of its lower-cased text is kept: nobody can search 2^128 keys, so neither salt
//! nor a slow hash would add anything, and a lookup by the digest tells nothing through its time.
//! A key is shown once, when [`issue`] or [`rotate`] makes it. Unknown, revoked and expired keys
//! are one case.
//!
//! ```
//! use domain::{Clock, SystemClock};
//!
//! # let database = testkit::Database::new();
//! let pools = database.open(&[&auth::MIGRATIONS]);
//! let now = SystemClock.unix();
//! let (key, text) =
//!     pools.write_blocking(|db| auth::issue(db, "alice", None, None, now))?;
//! assert_eq!(text.len(), 32);
//! assert_eq!(key.hint, text[..6]);
//!
//! let keys = pools.read_blocking(auth::list_keys)?;
//! assert_eq!(keys[0].owner, "alice");
//! # Ok::<(), auth::KeyError>(())
//! ```
//!
//! # Plans and quotas
//!
//! A plan gives its keys a token bucket: `burst` tokens, refilled at `per_minute`. Plans are
//! seeded once ([`seed_plans`]) and then belong to the operator. Anonymous callers and refused keys
//! are charged to the client's address. Buckets live in memory, so with several replicas a caller
//! gets the limit of each; [`Quota::shared_by`] divides the refill.
//!
//! # In a service
//!
//! The service says by a [`Policy`] where the key stands in a request and what anonymous callers
//! may do, puts a [`Gate`] into the app data, and names [`Caller`] as first argument of each
//! handler that needs one. Path, query and body stand in an [`After`], so that 401 and 429 come
//! before their faults:
//!
//! ```
//! use actix_web::{HttpRequest, Responder, get};
//! use auth::{AuthError, Caller, Charge, Credential, Gate, KeyStore, Policy, Quota, Quotas};
//! use domain::SharedClock;
//! use database::Pools;
//!
//! struct HeaderKeys;
//!
//! impl Policy for HeaderKeys {
//!     fn credential(&self, request: &HttpRequest) -> Result<Option<Credential>, AuthError> {
//!         auth::header_key(request, "x-api-key")
//!     }
//!
//!     fn anonymous(&self, _request: &HttpRequest) -> Option<Charge> {
//!         Some(Quota { per_minute: 60, burst: 30 }.into())
//!     }
//!
//!     fn refused(&self, _request: &HttpRequest) -> Charge {
//!         Quota { per_minute: 60, burst: 30 }.into()
//!     }
//! }
//!
//! fn gate(pools: Pools, clock: SharedClock) -> Gate {
//!     Gate::new(KeyStore::new(pools, clock.clone()), Quotas::new(clock), HeaderKeys)
//! }
//!
//! #[get("/whoami")]
//! async fn whoami(caller: Caller) -> impl Responder {
//!     caller.key.map_or_else(|| "nobody".to_owned(), |key| key.owner.clone())
//! }
//! ```
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
mod plan;
mod policy;
mod presented;
mod quota;
mod quotas;
pub mod schema;

pub use caller::Caller;
pub use charge::Charge;
pub use commands::{AnyOwner, KeysCommand, NoColumns, Owners, PlanColumns, PlansCommand};
pub use credential::{Credential, authorization_key, bearer_key, header_key};
pub use error::{AuthError, KeyError};
pub use extract::After;
pub use gate::Gate;
pub use key::{Key, KeyState, digest, is_well_formed, new_key};
pub use key_store::KeyStore;
pub use keys::{issue, issue_with_text, list_keys, revoke, revoke_owner, rotate};
pub use plan::{Plan, PlanChange, hide_plan, list_plans, plan, seed_plans, set_plan};
pub use policy::Policy;
pub use presented::{Admitted, Finding, Presented};
pub use quota::{Quota, QuotaId, Rate, Remaining, TooMany};
pub use quotas::Quotas;

use database::Migrations;

/// The tables of keys and plans; first in the list that a service gives to
/// [`DatabaseSettings::open`](database::DatabaseSettings::open).
pub static MIGRATIONS: Migrations = Migrations {
    sqlite: diesel_migrations::embed_migrations!("migrations/sqlite"),
    postgres: diesel_migrations::embed_migrations!("migrations/postgres"),
};
