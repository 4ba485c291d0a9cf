//! The `build` subcommand.

use std::path::Path;

use domain::Clock;

use super::lists::Lists;
use crate::jobs;
use crate::model::{CountMerge, Kind};

/// Options of `build`.
#[derive(Clone, Debug, clap::Args)]
pub struct Build {
    /// Comma-separated hash kinds to build: sha1, ntlm [default: detected for hash lists, both for
    /// plaintext]
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(Kind))]
    kind: Vec<Kind>,
    /// How to combine counts if several inputs contain a hash. Counts within an input are always
    /// added
    #[arg(long, value_enum, default_value = "sum")]
    on_duplicate: OnDuplicate,
    #[command(flatten)]
    lists: Lists,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum OnDuplicate {
    /// Add the counts
    Sum,
    /// Keep the largest of the inputs' counts, if the inputs overlap
    Max,
}

impl Build {
    /// Builds a corpus of each kind and prints a report for each.
    pub fn run(&self, data_dir: &Path, clock: &dyn Clock) -> anyhow::Result<()> {
        let job = jobs::Build {
            kinds: self.kind.clone(),
            on_duplicate: match self.on_duplicate {
                OnDuplicate::Sum => CountMerge::Sum,
                OnDuplicate::Max => CountMerge::Max,
            },
            lists: self.lists.to_job(),
        };
        job.run(data_dir, clock, |built| self.lists.print(built))
    }
}
