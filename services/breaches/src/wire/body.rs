//! Bodies of requests.

/// What an operation reads of its body.
pub trait Body {
    /// What there is once it was read.
    type Content;

    /// Reads a body; none when it breaks a rule.
    fn parse(body: &[u8]) -> Option<Self::Content>;
}
