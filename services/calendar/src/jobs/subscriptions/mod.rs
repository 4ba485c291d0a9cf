//! Runs subscriptions to other calendars, and implements their commands.

mod manage;
mod outage;
mod remarks;
mod run;
mod workers;

pub use manage::{
    add_subscription, change_subscription, list_subscriptions, release_subscribed,
    remove_subscription, show_subscription, step_subscription,
};
pub use run::measure_subscriptions;
pub use workers::{run_due_subscriptions, run_subscription, run_subscriptions_forever};
