//! Reads events, venues, organizers and terms with their included resources.

mod postgres;
mod reads;
mod selector;

pub use postgres::{Page, of_page};
pub use reads::{of_events, of_linked, of_terms};
pub use selector::EventSelector;
