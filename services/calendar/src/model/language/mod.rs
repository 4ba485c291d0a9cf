//! The languages of the pages: words, and the forms of dates, times, numbers and lists.

mod count;
mod dates;
mod forms;
mod languages;
mod locales;
mod pattern;
mod translations;
mod words;

pub use count::Count;
pub use dates::capitalized;
pub use languages::Language;
pub use words::{Nth, Words};
