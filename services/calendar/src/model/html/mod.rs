//! HTML text: sanitized when stored, rendered when displayed.

mod elements;
mod paragraphs;
mod parse_cost;
mod sanitizer;
mod scrolling;
#[cfg(test)]
mod tests;
mod text;

pub use paragraphs::paragraphs;
pub use sanitizer::{is_rewritten, sanitize, sanitize_inline};
pub use scrolling::with_focusable;
pub use text::{decode, escape, plain, strip_tags, text, title, without_tags};
