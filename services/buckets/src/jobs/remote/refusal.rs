//! Reasons why a page isn't available.

/// Describes why a server has refused a page, or why we can't request it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Response status, if we got one.
    pub status: Option<u16>,
    pub reason: String,
}
