//! The requests that the service answers.

mod edge;
mod entity_tag;
mod input;
mod page;
mod range;
mod reply;
mod worker;

pub use edge::around;
pub use entity_tag::EntityTag;
pub use input::kind;
pub use page::{SITE, check_page};
pub use range::{RANGE, get_password_range, wants_padding};
pub use worker::add_worker;
