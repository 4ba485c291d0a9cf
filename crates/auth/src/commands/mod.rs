//! The `keys` and `plans` subcommands.

mod keys;
mod owners;
mod plans;
mod table;

pub use keys::{KeysCommand, parse_until};
pub use owners::{AnyOwner, Owners};
pub use plans::{NoColumns, PlanColumns, PlansCommand};
