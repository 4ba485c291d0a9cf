//! Cluster server and connection errors.

use crate::engine::error::EngineError;

const TABLE_UNKNOWN: u32 = 60;
/// The table was dropped while the statement was reading from it.
const TABLE_DROPPED: u32 = 218;
const TOO_SLOW: u32 = 159;
const CANCELLED: u32 = 394;
const EXPRESSION: u32 = 427;
/// Socket timeout, network error, and no connection to any replica of a shard.
const AWAY: [u32; 3] = [209, 210, 279];

/// Maximum length of a server error message, in characters. Longer messages are truncated.
const LONGEST_REASON: usize = 400;

/// Error while running a statement.
#[derive(Debug, thiserror::Error)]
pub(super) enum ClusterError {
    /// The server returned an error.
    #[error("the cluster responded: {text} (code {code})")]
    Server { code: u32, text: String },
    /// The server didn't respond.
    #[error("the cluster does not respond: {0}")]
    Unreachable(String),
    /// The search was cancelled or ran out of time.
    #[error("stopped")]
    Stopped,
    /// Another process is writing.
    #[error("{0}")]
    Locked(String),
    /// Invalid configuration or malformed response.
    #[error("{0}")]
    Invalid(String),
}

impl ClusterError {
    pub(super) fn is_missing_table(&self) -> bool {
        matches!(self, Self::Server { code: TABLE_UNKNOWN | TABLE_DROPPED, .. })
    }
}

impl From<ClusterError> for EngineError {
    fn from(error: ClusterError) -> Self {
        match error {
            ClusterError::Stopped | ClusterError::Server { code: TOO_SLOW | CANCELLED, .. } => {
                Self::Stopped
            }
            ClusterError::Server { code: EXPRESSION, .. } => {
                Self::Unsupported("the expression is too large for the cluster".to_owned())
            }
            ClusterError::Server { code: TABLE_UNKNOWN | TABLE_DROPPED, text } => {
                Self::Missing(text)
            }
            ClusterError::Locked(holder) => Self::Locked(holder),
            other => Self::Broken(other.to_string()),
        }
    }
}

/// Parses a server error. Old servers write `Code: 60, e.displayText() = DB::Exception: Table …,
/// e.what() = DB::Exception`; newer ones use a shorter form.
pub(super) fn server_error(status: u16, body: &str) -> ClusterError {
    let digits = body.trim_start().strip_prefix("Code: ").unwrap_or_default();
    let end = digits.find(|symbol: char| !symbol.is_ascii_digit()).unwrap_or(digits.len());
    let Ok(code) = digits[..end].parse() else {
        return ClusterError::Unreachable(format!("status {status}, not from ClickHouse"));
    };
    let text = body.split_once("Exception: ").map_or(body, |(_, text)| text);
    let text = text.split(", e.what() = ").next().unwrap_or_default();
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = text.chars().take(LONGEST_REASON).collect();
    if AWAY.contains(&code) {
        return ClusterError::Unreachable(format!("a server is unavailable: {text}"));
    }
    ClusterError::Server { code, text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_and_new_error_formats_are_parsed() {
        let old = "Code: 60, e.displayText() = DB::Exception: Table a.b doesn't exist., \
                   e.what() = DB::Exception\n";
        assert!(server_error(404, old).is_missing_table());
        let dropped = "Code: 218, e.displayText() = DB::Exception: Table is dropped";
        assert!(server_error(500, dropped).is_missing_table());
        // A search then looks for the next generation.
        let missing = EngineError::from(server_error(500, dropped));
        assert!(matches!(missing, EngineError::Missing(_)));
        let new = "Code: 57. DB::Exception: Table a.b already exists. (TABLE_ALREADY_EXISTS) (version 24)";
        assert!(matches!(server_error(500, new), ClusterError::Server { code: 57, .. }));
        assert_eq!(
            EngineError::from(server_error(404, old)).to_string(),
            "there is no index at Table a.b doesn't exist."
        );
        assert!(matches!(server_error(502, "<html>"), ClusterError::Unreachable(_)));
        let slow =
            server_error(500, "Code: 159, e.displayText() = DB::Exception: Timeout exceeded");
        assert!(matches!(EngineError::from(slow), EngineError::Stopped));
        let away = "Code: 279, e.displayText() = DB::NetException: All connection tries failed. \
                    Log: \n\nCode: 210, e.displayText() = DB::NetException: Connection refused";
        let text = server_error(500, away).to_string();
        assert!(text.contains("a server is unavailable: All connection tries failed. Log: Code"));
    }
}
