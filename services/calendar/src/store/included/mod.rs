//! Reading of events, venues, organizers and terms with the resources that they include.

mod postgres;
mod reads;
mod selector;

pub use postgres::of_page;
pub use reads::{LONGEST_ANSWER, of_events, of_linked, of_terms};
pub use selector::EventSelector;
