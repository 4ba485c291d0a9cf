//! Requests and answers with their exact names: reading of parameters, JSON of resources.

pub mod args;
pub mod dates;
pub mod decode;
pub mod describe;
pub mod envelope;
pub mod error_body;
pub mod event;
pub mod event_input;
pub mod examples;
pub mod fields;
pub mod image;
pub mod json_ld;
pub mod linked;
pub mod linked_input;
pub mod list_input;
pub mod lookup;
pub mod ordered_map;
pub mod params;
pub mod render_context;
pub mod sanitized;
pub mod term;
pub mod term_input;
pub mod urls;
pub mod write_input;
