//! `subscriptions`: iCalendar files on other sites that are imported regularly.

use std::process::ExitCode;

use anyhow::Context as _;
use batch::Output;
use clap::Subcommand;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::app::subscriptions::Step;
use crate::jobs;
use crate::model::subscription::{RunMessage, RunOutcome};
use crate::state::State;

/// The exit statuses of `run`, as shown by `--help`.
const STATUSES: &str = "\
Exit status:
  0  the file was imported or has not changed
  1  the run failed, or the subscription stopped; the message gives the reason
  2  usage error";

/// Subcommands of `subscriptions`.
#[derive(Subcommand)]
pub enum SubscriptionsCommand {
    /// Subscribe to an iCalendar file. A running server fetches it within seconds
    Add {
        /// URL of the iCalendar file: http, https or webcal
        url: String,
        #[command(flatten)]
        fields: Fields,
        /// Print the subscription as JSON
        #[arg(long)]
        json: bool,
    },
    /// List subscriptions with id, state, next run, number of events and URL
    List {
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a subscription and its last run
    Show {
        /// Subscription id
        id: i64,
        /// Print the result as JSON on a single line
        #[arg(long)]
        json: bool,
    },
    /// Change a subscription's settings. Settings that are omitted keep their value
    Change {
        /// Subscription id
        id: i64,
        /// New URL of the iCalendar file
        #[arg(long)]
        url: Option<String>,
        #[command(flatten)]
        fields: Fields,
    },
    /// Pause a subscription. A run in progress is aborted
    Pause {
        /// Subscription id
        id: i64,
    },
    /// Resume a paused or stopped subscription. It is due immediately
    Resume {
        /// Subscription id
        id: i64,
    },
    /// Accept that more than half of the future events are missing from a stopped subscription's
    /// file. The next run moves them to the trash
    Accept {
        /// Subscription id
        id: i64,
    },
    /// Run a subscription now, even if it is not due, and print the result
    #[command(after_help = STATUSES)]
    Run {
        /// Subscription id
        id: i64,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Release an event that users changed, or a series that they ended. The next run overwrites
    /// their changes
    Release {
        /// Subscription id
        id: i64,
        /// Event id
        #[arg(long, required_unless_present = "uid", conflicts_with = "uid")]
        event: Option<i64>,
        /// Comma-separated parts to release: title, description, dates, website, venue, organizer,
        /// categories, status, event_status [default: all]
        #[arg(long, value_name = "PARTS", value_delimiter = ',')]
        fields: Vec<String>,
        /// UID of a series that ended because users erased its last dates. The next run creates its
        /// later dates again
        #[arg(long)]
        uid: Option<String>,
    },
    /// Remove a subscription. Its events are kept unless --with-events is given
    Remove {
        /// Subscription id
        id: i64,
        /// Also move its events to the trash. A running server does this in the background
        #[arg(long)]
        with_events: bool,
    },
}

/// Settings of a subscription.
#[derive(clap::Args)]
pub struct Fields {
    /// Minutes between runs, from SUBSCRIPTION_INTERVAL_MIN to 43200. Default for new
    /// subscriptions: 60, or SUBSCRIPTION_INTERVAL_MIN if it is higher
    #[arg(long, value_name = "MINUTES")]
    interval: Option<i64>,
    /// User id of the author of new events. Default for new subscriptions: the first user
    #[arg(long, value_name = "ID")]
    author: Option<i64>,
    /// Status of new events: publish, draft, pending or private. Default for new subscriptions:
    /// publish
    #[arg(long)]
    status: Option<String>,
    /// Id of a category to add to all events; 0 for none
    #[arg(long, value_name = "ID")]
    category: Option<i64>,
    /// Id of the venue for events without a location; 0 for none
    #[arg(long, value_name = "ID")]
    venue: Option<i64>,
    /// Whether to take over events that an import created with the same UIDs. Default for new
    /// subscriptions: false
    #[arg(long, value_name = "BOOLEAN")]
    adopt: Option<bool>,
}

impl Fields {
    /// Returns the request body that corresponds to these options.
    fn members(&self, url: Option<&str>) -> Map<String, Value> {
        let Fields { interval, author, status, category, venue, adopt } = self;
        let members = [
            ("url", url.map(|url| json!(url))),
            ("interval", interval.map(|minutes| json!(minutes))),
            ("author", author.map(|id| json!(id))),
            ("status", status.as_ref().map(|status| json!(status))),
            ("category", category.map(|id| json!(id))),
            ("venue", venue.map(|id| json!(id))),
            ("adopt", adopt.map(|flag| json!(flag))),
        ];
        let given = members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        given.collect()
    }
}

impl SubscriptionsCommand {
    pub fn run(self, state: &State) -> anyhow::Result<ExitCode> {
        match self {
            SubscriptionsCommand::Add { url, fields, json } => {
                let added = jobs::add_subscription(state, fields.members(Some(&url)))?;
                let text = format_args!("{}", added.id);
                Output::from_json_flag(json).print(&added, text)?;
            }
            SubscriptionsCommand::List { json } => {
                let all = jobs::list_subscriptions(state)?;
                let line = |one: &_| line(one).unwrap_or_default();
                Output::from_json_flag(json).print_list(&all, line)?;
            }
            SubscriptionsCommand::Show { id, json } => {
                let shown = jobs::show_subscription(state, id)?;
                let text = serde_json::to_string_pretty(&shown)?;
                Output::from_json_flag(json).print(&shown, text)?;
            }
            SubscriptionsCommand::Change { id, url, fields } => {
                jobs::change_subscription(state, id, fields.members(url.as_deref()))?;
                log::info!(target: "notice", "subscription {id} was changed");
            }
            SubscriptionsCommand::Pause { id } => step(state, id, Step::Pause)?,
            SubscriptionsCommand::Resume { id } => step(state, id, Step::Resume)?,
            SubscriptionsCommand::Accept { id } => step(state, id, Step::Accept)?,
            SubscriptionsCommand::Run { id, json } => return run(state, id, json),
            SubscriptionsCommand::Release { id, event, fields, uid } => {
                let (members, what) = match (event, uid) {
                    (Some(event), _) => {
                        (json!({"event": event, "fields": fields}), format!("event {event}"))
                    }
                    (None, uid) => (json!({"uid": uid}), "later dates".to_owned()),
                };
                let members = members.as_object().cloned().unwrap_or_default();
                jobs::release_subscribed(state, id, members)?;
                log::info!(target: "notice", "the next run of subscription {id} writes {what}");
            }
            SubscriptionsCommand::Remove { id, with_events } => {
                jobs::remove_subscription(state, id, with_events)?;
                let when = if with_events { "is removed with its events" } else { "was removed" };
                log::info!(target: "notice", "subscription {id} {when}");
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn step(state: &State, id: i64, step: Step) -> anyhow::Result<()> {
    let shown = jobs::step_subscription(state, id, step)?;
    log::info!(target: "notice", "subscription {id} is {}", shown.state);
    Ok(())
}

/// Runs a subscription. Exits with status 1 if the run failed or stopped.
fn run(state: &State, id: i64, json: bool) -> anyhow::Result<ExitCode> {
    let run = jobs::run_subscription(state, id)?;
    let run = run.with_context(|| format!("subscription {id} was changed in the meantime"))?;
    let text = format!(
        "{}: {} created, {} updated, {} unchanged, {} skipped, {} failed, {} trashed",
        run.outcome.name(),
        run.created,
        run.updated,
        run.unchanged,
        run.skipped,
        run.failed,
        run.trashed
    );
    if !json && !run.message.is_empty() {
        log::info!(target: "notice", "{}", run.message);
    }
    for RunMessage { uid, line, message } in run.messages.iter().filter(|_| !json) {
        // An event that is missing from the file has no line number.
        match line {
            0 => log::info!(target: "notice", "{uid}: {message}"),
            line => log::info!(target: "notice", "line {line} ({uid}): {message}"),
        }
    }
    Output::from_json_flag(json).print(&run, text)?;
    Ok(match run.outcome {
        RunOutcome::Imported | RunOutcome::NotModified => ExitCode::SUCCESS,
        RunOutcome::Failed | RunOutcome::Stopped => ExitCode::FAILURE,
    })
}

/// Formats a subscription as a line of the list.
fn line(one: &impl Serialize) -> Option<String> {
    let one = serde_json::to_value(one).ok()?;
    let text = |name: &str| one[name].as_str().unwrap_or("-").to_owned();
    let (state, next, url) = (text("state"), text("next_run_utc"), text("url"));
    Some(format!("{}\t{state}\t{next}\t{}\t{url}", one["id"], one["events"]))
}
