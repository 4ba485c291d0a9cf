//! Page languages, with their UI strings and their date, time, number and list formats.

mod count;
mod dates;
mod forms;
mod languages;
mod locales;
mod pattern;
mod sentences;
mod translations;
mod words;

pub use count::Count;
pub use dates::capitalized;
pub use languages::Language;
pub use sentences::sentences;
pub use words::{Nth, Words};
