//! One file per resource; each handler reads its parameters, asks the model and answers.

mod answer;
mod ask;
pub mod card;
pub mod finance;
pub mod licenses;
pub mod name;
pub mod phone;
pub mod social;

pub use answer::List;
pub use ask::Ask;
