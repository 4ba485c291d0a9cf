//! One file per resource; each handler reads its parameters, asks the model and answers.

mod answer;
mod ask;
pub mod card;
pub mod licenses;
pub mod name;

pub use answer::List;
pub use ask::Ask;
