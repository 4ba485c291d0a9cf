//! The reason a page of a listing is unavailable.

/// A page that a server refuses, or that must not be requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The status of the response, if there was one.
    pub status: Option<u16>,
    /// The reason.
    pub reason: String,
}
