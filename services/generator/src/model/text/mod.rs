//! Placeholder text, passwords and text transformations.

mod business;
mod change;
mod humanize;
mod latin;
mod letters;
mod lorem;
mod password;
mod title;

pub use change::{CaseType, Replacing, change_case};
pub use humanize::humanize;
pub use lorem::{Lorem, Unit, Vocabulary};
pub use password::{Classes, password, sampled};
