//! Messages about a run's file.

use crate::model::event::Event;
use crate::model::subscription::RunMessage;
use crate::wire::dates::written;
use crate::wire::import::{ImportErrorJson, ImportJson};

/// The message if a `webcal` URL's file was fetched over http.
const UNENCRYPTED: &str = "the host does not answer over https with a valid certificate, so the file \
    was read over http";

/// Describes a run: the first problem in the import, the number of events that were kept because a
/// user had changed them, and whether a `webcal` URL was fetched without encryption.
pub fn remarks(report: &ImportJson, kept: u64, is_unencrypted: bool) -> String {
    let first = report.errors.first().or(report.warnings.first());
    let problem = first.map(|one| format!("line {}: {}", one.line, one.message));
    let more = (report.errors.len() + report.warnings.len()).saturating_sub(1);
    let problem = problem.map(|text| match more {
        0 => text,
        more => format!("{text} (and {more} other messages)"),
    });
    let kept = (kept > 0).then(|| {
        format!("events missing from the file and kept, because a user changed them: {kept}")
    });
    let plain = is_unencrypted.then(|| UNENCRYPTED.to_owned());
    problem.into_iter().chain(kept).chain(plain).collect::<Vec<_>>().join("; ")
}

/// Returns a run's messages: first the messages about entries in the file, starting with errors,
/// and then the messages about events that were kept although they are missing from the file.
pub fn messages(report: &ImportJson, kept: &[ImportErrorJson]) -> Vec<RunMessage> {
    let all = report.errors.iter().chain(&report.warnings).chain(kept);
    let message = |one: &ImportErrorJson| RunMessage {
        uid: one.uid.clone(),
        line: one.line,
        message: one.message.clone(),
    };
    all.map(message).collect()
}

/// Returns the message about an event that was kept although it is missing from the file.
pub fn kept(event: Event) -> ImportErrorJson {
    let (id, start) = (event.id, written(event.schedule.start_local));
    let message = format!(
        "the file no longer has this event; event {id} of {start} is kept, because a user changed \
         it"
    );
    ImportErrorJson { uid: event.external_id.unwrap_or_default(), line: 0, message }
}
