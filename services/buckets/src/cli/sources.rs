//! Command-line arguments that describe the sources.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::config::rate;
use crate::engine::Mode;
use crate::jobs::{Format, JobError, LoadOptions, MaxErrors, RemoteOptions, sources_of};
use crate::model::address::{Address, BucketType};

/// Options for reading sources.
#[derive(clap::Args, Debug)]
pub struct SourceArguments {
    /// Format of the sources [default: detected from content and file name]
    #[arg(long, value_parser = formats())]
    format: Option<Format>,
    /// Address of the bucket that contains all files
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    bucket: Option<String>,
    /// Bucket type, if the provider is unknown
    #[arg(long = "type", value_name = "TYPE", value_parser = kind)]
    kind: Option<String>,
    /// Maximum number of bad lines, or percentage of all lines. If more lines are bad, nothing is
    /// published
    #[arg(long, value_name = "N|P%", default_value = "1%")]
    max_errors: MaxErrors,
    /// Write bad lines to this file, to be corrected and loaded again, and the reason for each to
    /// FILE.reasons. Both files contain names from the sources; their permissions follow the umask
    #[arg(long, value_name = "FILE")]
    reject: Option<PathBuf>,
    /// Maximum number of requests per second to each listed bucket
    #[arg(long, value_name = "N", default_value_t = 2.0, value_parser = rate)]
    rate: f64,
    /// User-Agent header to send when listing buckets
    #[arg(long, value_name = "TEXT", default_value_t = RemoteOptions::default().user_agent)]
    user_agent: String,
    /// Print the report as JSON
    #[arg(long)]
    pub json: bool,
}

impl SourceArguments {
    /// Returns `true` if an option was given that needs sources. Options with a default value can't
    /// be detected.
    pub fn has_options(&self) -> bool {
        let Self { format, bucket, kind, reject, .. } = self;
        format.is_some() || bucket.is_some() || kind.is_some() || reject.is_some()
    }

    /// Builds load options from these arguments.
    pub fn options(self, mode: Mode, paths: &[PathBuf]) -> Result<LoadOptions, JobError> {
        let remote = RemoteOptions {
            rate: self.rate,
            user_agent: self.user_agent,
            ..RemoteOptions::default()
        };
        let options = LoadOptions {
            format: self.format.map(|format| format.name().to_owned()),
            bucket: self.bucket,
            kind: self.kind,
            mode,
            newer: None,
            replaces_rejected: false,
            max_errors: self.max_errors,
            reject: self.reject,
            remote,
            removal_limit: None,
            sources: sources_of(paths)?,
        };
        options.check()?;
        Ok(options)
    }
}

fn formats() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(Format::name)).try_map(|name| name.parse::<Format>())
}

pub(super) fn address(text: &str) -> Result<String, String> {
    Address::parse(text).map(|_| text.to_owned()).map_err(|error| error.to_string())
}

pub(super) fn kind(text: &str) -> Result<String, String> {
    text.parse::<BucketType>().map(|kind| kind.to_string()).map_err(|error| error.to_string())
}
