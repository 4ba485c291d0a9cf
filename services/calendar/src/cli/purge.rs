//! `purge`: permanently removes trashed resources, or individual events.

use std::process::ExitCode;

use batch::Output;

use crate::jobs::{self, PurgeOptions};
use crate::state::State;

/// Arguments of `purge`.
#[derive(clap::Args)]
pub struct PurgeCommand {
    /// Remove events, venues and organizers that were moved to the trash more than this number of
    /// days ago, 0 to 36500
    #[arg(long, value_name = "DAYS", required_unless_present = "events", value_parser = clap::value_parser!(i64).range(0..=36_500))]
    trash_older_than: Option<i64>,
    /// Remove the event with this id, regardless of its status. Can be repeated
    #[arg(long = "event", value_name = "ID")]
    events: Vec<i64>,
    /// Report what would be removed without removing anything
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl PurgeCommand {
    /// Removes the selected resources and prints how many there were.
    pub fn run(self, state: &State) -> anyhow::Result<ExitCode> {
        let PurgeCommand { trash_older_than, events, dry_run, json } = self;
        let mut events = events;
        events.sort_unstable();
        events.dedup();
        let options = PurgeOptions { older_than: trash_older_than, events, dry_run };
        let purged = jobs::purge(state, &options)?;
        let text =
            format_args!("{purged}{}", if dry_run { "; dry run, nothing was removed" } else { "" });
        Output::from_json_flag(json).print(&purged, text)?;
        Ok(ExitCode::SUCCESS)
    }
}
