//! Requests and answers with their exact names: reading of parameters, JSON of resources.

pub(crate) mod dates;
pub(crate) mod description;
pub(crate) mod envelope;
pub(crate) mod error_body;
pub(crate) mod event;
pub(crate) mod event_input;
pub(crate) mod examples;
pub(crate) mod fields;
pub(crate) mod image;
pub(crate) mod json_ld;
pub(crate) mod linked;
pub(crate) mod linked_input;
pub(crate) mod list_input;
pub(crate) mod lookup;
pub(crate) mod ordered_map;
pub(crate) mod parameter_errors;
pub(crate) mod parameters;
pub(crate) mod params;
pub(crate) mod reading;
pub(crate) mod render_context;
pub(crate) mod sanitized;
pub(crate) mod term;
pub(crate) mod term_input;
pub(crate) mod urls;
pub(crate) mod values;
pub(crate) mod write_input;
