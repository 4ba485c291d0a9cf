//! Load options.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::context::JobContext;
use super::error::JobError;
use super::formats::{Defaults, Format};
use super::intake::Intake;
use super::intake_state::IntakeState;
use super::inventory::Inventory;
use super::max_errors::MaxErrors;
use super::reject_file::{RejectFile, reasons_of, refuse_own_data};
use super::remote::{Listing, RemoteOptions};
use super::sources::Source;
use super::write_session::Session;
use crate::config::Settings;
use crate::engine::{Mode, NewerFiles, RemovalLimit};

/// Options for a load run. We store them in SQL so that the run can be resumed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LoadOptions {
    /// `--format`
    pub format: Option<String>,
    /// `--bucket`
    pub bucket: Option<String>,
    /// `--type`
    pub kind: Option<String>,
    /// `--mode`
    pub mode: Mode,
    /// Stored files that are newer than the sources. Publishing doesn't change them.
    #[serde(default)]
    pub newer: Option<NewerFiles>,
    /// Whether reject files replace the files in their buckets, because of an explicit `--mode
    /// replace`.
    #[serde(default)]
    pub replaces_rejected: bool,
    /// `--max-errors`
    pub max_errors: MaxErrors,
    /// `--reject`
    pub reject: Option<PathBuf>,
    /// How to list buckets.
    #[serde(default)]
    pub remote: RemoteOptions,
    /// Limit on removed files, or `None` with `--accept-removals`.
    #[serde(default = "default_limit")]
    pub removal_limit: Option<RemovalLimit>,
    /// Sources, in order.
    pub sources: Vec<Source>,
}

fn default_limit() -> Option<RemovalLimit> {
    Some(RemovalLimit::default())
}

impl LoadOptions {
    /// Returns the length of all sources in bytes, or 0 if it is unknown.
    pub(super) fn bytes(&self) -> u64 {
        match self.sources.iter().any(Source::is_stdin) {
            true => 0,
            false => self.sources.iter().map(|source| source.size).sum(),
        }
    }

    /// Checks that every bucket among the sources can be listed.
    ///
    /// # Errors
    /// Returns an error for the first bucket whose API is unknown.
    pub fn check(&self) -> Result<(), JobError> {
        let mut urls = self.sources.iter().filter_map(Source::url);
        urls.try_for_each(|url| Listing::of(url, &self.defaults()).map(drop))
    }

    /// Returns the defaults for all sources.
    pub(super) fn defaults(&self) -> Defaults {
        Defaults {
            bucket: self.bucket.clone(),
            kind: self.kind.clone(),
            format: self.format.as_deref().and_then(|name| name.parse().ok()),
            columns: None,
        }
    }

    /// Returns the defaults for one source.
    pub(super) fn defaults_of(&self, source: &Source) -> Defaults {
        let defaults = self.defaults();
        match &source.inventory {
            None => defaults,
            Some(Inventory { bucket, columns }) => Defaults {
                bucket: defaults.bucket.or_else(|| Some(bucket.clone())),
                kind: defaults.kind,
                format: Some(Format::Csv),
                columns: Some(columns.clone()),
            },
        }
    }

    /// Creates an intake that continues from a saved state. Also checks the sources and opens the
    /// reject file, so that any errors occur before we abort a stopped run.
    pub(super) fn intake(&self, session: &Session, state: IntakeState) -> Result<Intake, JobError> {
        let counts = Arc::clone(&session.index.summary().counts);
        let largest = counts.keys().next_back().copied().unwrap_or(0);
        let mut intake = self.intake_above(&session.context, largest, state)?;
        if self.mode == Mode::Replace {
            intake.indexed = counts;
        }
        Ok(intake)
    }

    /// Like [`Self::intake`] but without a session. New buckets get ids above `largest` and above
    /// all ids in SQL.
    pub(super) fn intake_above(
        &self,
        context: &JobContext,
        largest: u64,
        state: IntakeState,
    ) -> Result<Intake, JobError> {
        self.sources.iter().skip(state.done).try_for_each(Source::check)?;
        let reject = match &self.reject {
            None => None,
            Some(path) => {
                let read = self.sources.iter().filter(|source| source.url().is_none());
                let read = read.map(|source| source.path.as_path());
                refuse_own_data(context, path)?;
                batch::refuse_overwriting(&[path.clone(), reasons_of(path)], read)
                    .map_err(|error| JobError::Invalid(format!("--reject: {error}")))?;
                Some(RejectFile::open(path, state.reject)?)
            }
        };
        let mut intake = Intake::new(&context.pools, largest, state, self.max_errors, reject)?;
        intake.replaces_rejected = self.replaces_rejected;
        intake.bucket.clone_from(&self.bucket);
        Ok(intake)
    }
}

/// Determines when to make checkpoints.
#[derive(Clone, Copy, Debug)]
pub struct CheckpointPolicy {
    /// `CHECKPOINT_FILES`
    pub files: u64,
    /// `CHECKPOINT_SECONDS`
    pub every: Duration,
}

impl CheckpointPolicy {
    /// Gets the policy from the settings.
    pub fn of(settings: &Settings) -> Self {
        Self {
            files: settings.checkpoint_files,
            every: Duration::from_secs(settings.checkpoint_seconds),
        }
    }
}
