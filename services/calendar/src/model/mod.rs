//! The rules of the calendar: dates, zones, slugs, costs, statuses, roles. No HTTP, no SQL.

pub mod change;
pub mod cost;
pub mod event;
pub mod geo;
pub mod html;
pub mod image;
pub mod included;
pub mod linked;
pub mod list;
mod parse_cost;
pub mod role;
pub mod schedule;
pub mod search;
pub mod slug;
pub mod status;
pub mod term;
pub mod when;
pub mod window;
pub mod zone;
