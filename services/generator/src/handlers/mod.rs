//! HTTP handlers, one file per resource.

pub(crate) mod address;
pub(crate) mod business;
pub(crate) mod card;
mod chunks;
mod countries;
pub(crate) mod finance;
mod input;
pub(crate) mod licenses;
mod list;
pub(crate) mod name;
pub(crate) mod page;
pub(crate) mod person;
pub(crate) mod phone;
pub(crate) mod records;
mod reply;
pub(crate) mod review;
pub(crate) mod schemas;
pub(crate) mod social;
mod stream;
pub(crate) mod text;
