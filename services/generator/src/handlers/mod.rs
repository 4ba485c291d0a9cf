//! One file per resource; each handler takes a request that was read, calls the model and answers.

pub(crate) mod card;
pub(crate) mod finance;
mod input;
pub(crate) mod licenses;
pub(crate) mod name;
pub(crate) mod phone;
mod reply;
pub(crate) mod social;
