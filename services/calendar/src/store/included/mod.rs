//! Reads events, venues, organizers and terms along with the resources they include.

mod postgres;
mod reads;
mod selector;

pub use postgres::of_page;
pub use reads::{LONGEST_ANSWER, of_events, of_linked, of_terms};
pub use selector::EventSelector;
