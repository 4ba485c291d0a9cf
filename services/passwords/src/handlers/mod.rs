//! HTTP handlers.

mod edge;
mod input;
mod page;
mod range;
mod reply;
mod worker;

pub use edge::answer_first;
pub use input::kind;
pub use page::{SITE, check_page};
pub use range::{__path_get_ntlm_range, __path_get_password_range, RANGE, route, wants_padding};
pub use worker::add_worker;
