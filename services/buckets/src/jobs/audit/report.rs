//! Formats audit reports as text and JSON.

use std::fmt;

use serde::Serialize;

use super::addresses::InvalidLine;

/// Result for one bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AuditState {
    /// The bucket is open, and we published its complete listing.
    Listed,
    /// The bucket is open, but its listing was cut short, is filtered or has invalid entries. No
    /// files were removed.
    Incomplete,
    /// The bucket would lose too many files, so nothing was published.
    Held,
    /// The provider refused to list the bucket.
    Closed,
    /// There is no such bucket.
    Missing,
    /// The host didn't respond with a listing, another command was writing to the index, or a
    /// stopped run can be resumed.
    Unreachable,
    /// The bucket is on the removal list. We didn't request it.
    Removed,
    /// The line isn't a listable bucket address.
    Invalid,
}

impl AuditState {
    fn as_str(self) -> &'static str {
        match self {
            Self::Listed => "listed",
            Self::Incomplete => "incomplete",
            Self::Held => "held",
            Self::Closed => "closed",
            Self::Missing => "missing",
            Self::Unreachable => "unreachable",
            Self::Removed => "removed",
            Self::Invalid => "invalid",
        }
    }
}

/// Result for one bucket, including the changes to its files.
#[derive(Clone, Debug, Serialize)]
pub struct BucketAudit {
    /// Bucket address in the index, or the text of an invalid line.
    pub bucket: String,
    pub state: AuditState,
    /// Whether the bucket wasn't listed in the index before the audit, or was hidden.
    pub new_bucket: bool,
    /// Files that weren't in the index.
    pub new: u64,
    /// Files with a different size or date.
    pub changed: u64,
    /// Files that are no longer listed.
    pub gone: u64,
    /// Unchanged files.
    pub unchanged: u64,
    /// Number of files in the index after the audit.
    pub indexed: u64,
    /// Paths of new and changed files, up to a limit.
    pub files: Vec<String>,
    /// Explains any state other than `listed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl BucketAudit {
    pub(super) fn new(bucket: &str, state: AuditState) -> Self {
        Self {
            bucket: bucket.to_owned(),
            state,
            new_bucket: false,
            new: 0,
            changed: 0,
            gone: 0,
            unchanged: 0,
            indexed: 0,
            files: Vec::new(),
            reason: None,
        }
    }

    pub(super) fn invalid(line: &InvalidLine) -> Self {
        Self { reason: Some(line.reason.clone()), ..Self::new(&line.text, AuditState::Invalid) }
    }

    fn is_changed(&self) -> bool {
        self.new_bucket || self.new + self.changed + self.gone > 0
    }
}

/// Result of an audit.
#[derive(Clone, Debug, Default, Serialize)]
pub struct AuditReport {
    /// In the order of the address file.
    pub buckets: Vec<BucketAudit>,
    /// Duration in seconds.
    pub seconds: f64,
}

impl AuditReport {
    /// Returns `true` if there are open buckets or files that the index didn't contain.
    pub fn has_new(&self) -> bool {
        self.buckets.iter().any(|bucket| bucket.new_bucket || bucket.new > 0)
    }

    /// Returns `true` if any bucket is in this state.
    pub fn has(&self, state: AuditState) -> bool {
        self.buckets.iter().any(|bucket| bucket.state == state)
    }
}

impl fmt::Display for AuditReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let with_state = |state| self.buckets.iter().filter(move |bucket| bucket.state == state);
        for bucket in with_state(AuditState::Listed).chain(with_state(AuditState::Incomplete)) {
            if bucket.is_changed() {
                let BucketAudit { bucket: address, new, changed, gone, .. } = bucket;
                let mark = if bucket.new_bucket { " (new bucket)" } else { "" };
                writeln!(f, "{address}{mark}: {new} new, {changed} changed, {gone} gone")?;
                for file in &bucket.files {
                    // Paths come from the provider and could contain control characters.
                    writeln!(f, "  {}", file.escape_debug())?;
                }
            }
        }
        for bucket in self.buckets.iter().filter(|bucket| bucket.state != AuditState::Listed) {
            let BucketAudit { bucket: address, state, indexed, .. } = bucket;
            let reason = bucket.reason.as_ref().map_or(String::new(), |text| format!(", {text}"));
            write!(f, "{}: {address}{reason}", state.as_str())?;
            match state {
                AuditState::Invalid => writeln!(f)?,
                _ => writeln!(f, " ({indexed} files in the index)")?,
            }
        }
        let unchanged =
            with_state(AuditState::Listed).filter(|bucket| !bucket.is_changed()).count();
        let listed = with_state(AuditState::Listed).count();
        write!(
            f,
            "{} addresses in {:.1} s: {listed} listed, {unchanged} of them unchanged",
            self.buckets.len(),
            self.seconds
        )
    }
}
