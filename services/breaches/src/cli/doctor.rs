//! `doctor`.

use std::process::ExitCode;

use super::output::Output;
use crate::jobs::{self, JobContext};

/// The command `doctor`.
#[derive(clap::Args)]
pub struct Doctor {
    #[command(flatten)]
    output: Output,
}

impl Doctor {
    /// Runs the command. Exits with code 1 if there are any problems.
    pub fn run(self, context: &JobContext) -> anyhow::Result<ExitCode> {
        let found = jobs::examine(context)?;
        let text = format!(
            "schema {}: {} breaches, {} accounts, {} stealer pairs, {} pastes, {} opt-outs\n\
             of {} accounts sampled: {} with a wrong key, {} with orphan ids, {} with an unsorted \
             list, {} opted out, {} that are not addresses and that `accounts clean` repairs; {} accounts \
             missing in the index by domain; {} domains of accounts missing in mail_domain; {} accounts, {} \
             domains and {} websites that `accounts clean` removes; {} links of retired breaches, which `breach retire` removes",
            found.schema_version.as_deref().unwrap_or("unknown"),
            found.breaches,
            found.accounts,
            found.stealer_pairs,
            found.pastes,
            found.opt_outs,
            found.sampled,
            found.wrong_keys,
            found.orphan_ids,
            found.unsorted_lists,
            found.opted_out,
            found.odd_addresses,
            found.unfiled,
            found.missing_domains,
            found.empty,
            found.odd_domains,
            found.odd_websites,
            found.retired_links
        );
        self.output.print(&found, text)?;
        Ok(if found.is_sound() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
