//! The view model for the page that lists subscriptions to other calendars.

use jiff::civil::DateTime;

use crate::model::condition::Condition;
use crate::model::language::{Language, Words, sentences};
use crate::model::subscription::RunOutcome;
use crate::wire::subscription::{RunJson, SubscriptionJson};

const MINUTES_OF_HOUR: i64 = 60;
const MINUTES_OF_DAY: i64 = 24 * MINUTES_OF_HOUR;

/// Separates the items on a line.
const DOT: &str = " · ";

/// A subscription, described in the page's language.
#[derive(Clone, Debug)]
pub struct SubscriptionView {
    pub id: i64,
    pub url: String,
    /// A notice if the subscription has stopped or is failing. Otherwise empty.
    pub notice: String,
    /// The reason, in English. Empty if the notice already includes it.
    pub reason: String,
    pub state: String,
    /// When the subscription runs next. `None` if it won't.
    pub next_run: Option<Moment>,
    pub interval: String,
    pub events: String,
    pub last_run: Option<RunView>,
    pub may_resume: bool,
    pub may_pause: bool,
    pub awaits_acceptance: bool,
    pub is_removing: bool,
}

/// A time in UTC.
#[derive(Clone, Debug)]
pub struct Moment {
    /// `YYYY-MM-DD HH:MM:SS`.
    pub utc: String,
    pub text: String,
}

/// A run, described in the page's language.
#[derive(Clone, Debug)]
pub struct RunView {
    pub at: Moment,
    pub outcome: &'static str,
    /// Event counts. Empty if the run didn't read a file.
    pub counts: String,
    /// A remark in English. May be empty.
    pub message: String,
}

impl SubscriptionView {
    /// Describes a subscription in `language`.
    pub fn new(one: &SubscriptionJson, language: Language) -> SubscriptionView {
        let words = language.words();
        let condition = Condition::named(one.state);
        let message = one.last_run.as_ref().map_or("", |run| run.message.as_str());
        let lost = one.last_run.as_ref().map_or(0, |run| run.lost);
        let notice = match condition {
            Some(Condition::Stopped) if one.awaits_acceptance => {
                let lost = language.count(i64::try_from(lost).unwrap_or(i64::MAX));
                sentences(words.has_stopped, &(words.lost_events)(lost))
            }
            Some(Condition::Stopped) => words.has_stopped.to_owned(),
            Some(Condition::Failing) => words.is_failing.to_owned(),
            _ => String::new(),
        };
        let has_reason = !notice.is_empty() && !one.awaits_acceptance && !message.is_empty();
        SubscriptionView {
            id: one.id,
            url: one.url.clone(),
            notice,
            reason: if has_reason { message.to_owned() } else { String::new() },
            state: detailed(
                condition.map_or(one.state, |condition| state(condition, words)),
                one.failures,
                || (words.failed_runs)(language.count(one.failures)),
            ),
            next_run: one.next_run_utc.as_deref().map(|at| moment(at, language)),
            interval: interval(one.interval, language),
            events: detailed(&language.count(one.events).to_string(), one.changed_events, || {
                (words.changed_by_hand)(language.count(one.changed_events))
            }),
            last_run: one.last_run.as_ref().map(|run| RunView::new(run, language)),
            may_resume: matches!(condition, Some(Condition::Paused | Condition::Stopped)),
            may_pause: condition != Some(Condition::Paused),
            awaits_acceptance: one.awaits_acceptance,
            is_removing: condition == Some(Condition::Removing),
        }
    }
}

impl RunView {
    fn new(run: &RunJson, language: Language) -> RunView {
        let words = language.words();
        let outcome = RunOutcome::ALL.into_iter().find(|outcome| outcome.name() == run.outcome);
        let counts = [
            (words.created, run.created),
            (words.updated, run.updated),
            (words.unchanged, run.unchanged),
            (words.skipped, run.skipped),
            (words.not_imported, run.failed),
            (words.trashed, run.trashed),
        ];
        let counts = counts.into_iter().filter(|(_, number)| *number > 0);
        let counts = counts.map(|(label, number)| {
            (words.labelled)(label, language.count(i64::try_from(number).unwrap_or(i64::MAX)))
        });
        RunView {
            at: moment(&run.at_utc, language),
            outcome: outcome.map_or(run.outcome, |outcome| match outcome {
                RunOutcome::Imported => words.imported,
                RunOutcome::NotModified => words.not_modified,
                RunOutcome::Failed => words.run_failed,
                RunOutcome::Stopped => words.stopped,
            }),
            counts: counts.collect::<Vec<_>>().join(DOT),
            message: run.message.clone(),
        }
    }
}

fn state(condition: Condition, words: &'static Words) -> &'static str {
    match condition {
        Condition::Active => words.active,
        Condition::Running => words.running,
        Condition::Failing => words.failing,
        Condition::Stopped => words.stopped,
        Condition::Paused => words.paused,
        Condition::Removing => words.removing,
    }
}

/// Appends a detail to `fact`, unless `number` is 0.
fn detailed(fact: &str, number: i64, detail: impl FnOnce() -> String) -> String {
    if number > 0 { format!("{fact}{DOT}{}", detail()) } else { fact.to_owned() }
}

/// Describes an interval in the largest unit that divides it evenly.
fn interval(minutes: i64, language: Language) -> String {
    let words = language.words();
    let (unit, number) = match minutes {
        minutes if minutes % MINUTES_OF_DAY == 0 => (words.every_day, minutes / MINUTES_OF_DAY),
        minutes if minutes % MINUTES_OF_HOUR == 0 => (words.every_hour, minutes / MINUTES_OF_HOUR),
        minutes => (words.every_minute, minutes),
    };
    unit(language.count(number))
}

/// Formats a time from an API response for display on a page.
fn moment(utc: &str, language: Language) -> Moment {
    let text = utc.parse().map_or_else(|_| utc.to_owned(), |at: DateTime| language.moment(at));
    Moment { utc: utc.to_owned(), text }
}
