//! The reason that a page of a listing is unavailable.

/// Describes a page that a server refuses, or that must not be requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The status of the response, if there was one.
    pub status: Option<u16>,
    pub reason: String,
}
