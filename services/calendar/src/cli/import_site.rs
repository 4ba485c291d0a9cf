//! `import-site`: imports a site that runs The Events Calendar.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use batch::Output;
use outbound::{Reach, web_url};

use crate::jobs::{self, SiteAccess};
use crate::state::State;

/// The environment variable for the application password.
const PASSWORD: &str = "SITE_PASSWORD";

/// Arguments of `import-site`.
#[derive(clap::Args)]
pub struct ImportSiteCommand {
    /// URL of the site, such as `https://old.example`
    url: String,
    /// Sign in to the site as this user, to import drafts and private events as well. The
    /// application password is read from the environment variable SITE_PASSWORD or from
    /// --password-file
    #[arg(long, value_name = "LOGIN")]
    user: Option<String>,
    /// File that contains the application password
    #[arg(long, value_name = "FILE", requires = "user")]
    password_file: Option<PathBuf>,
    /// Allow private addresses, and sending the password without TLS
    #[arg(long)]
    allow_private: bool,
    /// Milliseconds to wait between requests, 1 to 60000. Failed requests are retried after longer
    /// pauses
    #[arg(long, value_name = "MS", default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..=60_000))]
    pause: u64,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl ImportSiteCommand {
    /// Imports the site and prints a report. Exits with status 1 if anything is missing.
    pub fn run(&self, state: &State) -> anyhow::Result<ExitCode> {
        let url = web_url(&self.url);
        let url = url.filter(|url| url.query().is_none() && url.fragment().is_none());
        // The URL might contain a password, so don't print it.
        let url = url.context(
            "the site's address must be http or https, without user, query and fragment",
        )?;
        ensure!(
            self.user.is_none() || url.scheme() == "https" || self.allow_private,
            "the password would be sent to {url} without TLS; use https"
        );
        let credentials = match &self.user {
            Some(user) => Some((user.clone(), self.password()?)),
            None => None,
        };
        let reach = if self.allow_private { Reach::anywhere() } else { Reach::public() };
        let pause = Duration::from_millis(self.pause);
        let access = SiteAccess { url, credentials, reach, pause };
        let report = jobs::import_site(state, &access)?;
        for one in &report.faults {
            log::info!(target: "notice", "{} {}: {}", one.list, one.id, one.message);
        }
        Output::from_json_flag(self.json).print(&report, &report)?;
        Ok(if report.is_whole() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    fn password(&self) -> anyhow::Result<String> {
        let text = match &self.password_file {
            Some(path) => std::fs::read_to_string(path)
                .with_context(|| format!("{} cannot be read", path.display()))?,
            None => std::env::var(PASSWORD).with_context(|| {
                format!("--user needs the application password in {PASSWORD} or --password-file")
            })?,
        };
        ensure!(!text.trim().is_empty(), "the application password is empty");
        Ok(text.trim().to_owned())
    }
}
