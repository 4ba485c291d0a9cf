//! Requests and answers with their exact names: reading of parameters, JSON of resources.

pub mod addresses;
pub mod args;
pub mod cleaned;
pub mod dates;
pub mod decode;
pub mod describe;
pub mod envelope;
pub mod event;
pub mod event_input;
pub mod examples;
pub mod facts;
pub mod fields;
pub mod image;
pub mod json_ld;
pub mod linked;
pub mod linked_input;
pub mod list_input;
pub mod members;
pub mod params;
pub mod problem;
pub mod term;
pub mod term_input;
pub mod view;
pub mod write_input;
