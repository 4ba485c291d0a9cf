//! Recurrence in responses and tables.

use serde::Serialize;
use utoipa::ToSchema;

use super::dates::{written, written_in};
use crate::model::included::InSeries;
use crate::model::recurrence::without_end;
use crate::model::schedule::wall_seconds;
use crate::model::series::Plan;

/// The series that an event belongs to.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Series, example = json!({
    "id": 3, "occurrence": "2027-03-16 18:00:00", "changed": ["title"],
    "recurrence": {
        "rrule": "FREQ=WEEKLY;BYDAY=TU", "until": "2027-06-30 23:59:59",
        "exdates": ["2027-04-06 18:00:00"], "rdates": [],
    },
}))]
pub struct SeriesJson {
    /// Series id, for the `series` filter of the event list.
    pub id: i64,
    /// Local start according to the rule. The event itself may have been moved.
    pub occurrence: String,
    /// Fields that differ from the other events of the series. `dates` covers start, end and time
    /// zone.
    pub changed: Vec<String>,
    pub recurrence: RecurrenceJson,
}

/// How an event repeats. Dates are in the local time of the series.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Recurrence, example = json!({
    "rrule": "FREQ=WEEKLY;BYDAY=TU", "count": 10, "exdates": [], "rdates": [],
}))]
pub struct RecurrenceJson {
    /// RFC 5545 rule without `UNTIL` and `COUNT`; empty if all dates are in `rdates`.
    pub rrule: String,
    /// Latest possible start; absent if the rule never ends or ends after `count` events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Number of events after which the rule ends; absent if it does not end this way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
    /// Dates of the rule that are excluded.
    pub exdates: Vec<String>,
    /// Additional dates.
    pub rdates: Vec<String>,
}

/// Renders the series that an event belongs to.
pub fn series(one: &InSeries) -> SeriesJson {
    let plan = &one.series.plan;
    SeriesJson {
        id: one.series.id,
        occurrence: local(plan, one.membership.occurrence),
        changed: one.membership.changed.clone(),
        recurrence: recurrence(plan),
    }
}

fn recurrence(plan: &Plan) -> RecurrenceJson {
    let dates = |keys: &[String]| {
        let moments = keys.iter().filter_map(|key| plan.moment(key));
        moments.map(|moment| local(plan, moment)).collect()
    };
    RecurrenceJson {
        rrule: without_end(&plan.rule),
        until: plan.ends().map(|wall| written(wall_seconds(wall))),
        count: plan.parsed().and_then(|rule| rule.count()),
        exdates: dates(&plan.exdates),
        rdates: dates(&plan.rdates),
    }
}

fn local(plan: &Plan, moment: i64) -> String {
    if plan.all_day { written(moment) } else { written_in(&plan.zone, moment) }
}

/// Formats a recurrence as iCalendar lines, for use in tables.
pub fn lines(plan: &Plan) -> String {
    let mut lines = Vec::new();
    if !plan.rule.is_empty() {
        lines.push(format!("RRULE:{}", plan.rule));
    }
    for (name, keys) in [("RDATE", &plan.rdates), ("EXDATE", &plan.exdates)] {
        if !keys.is_empty() {
            lines.push(format!("{name}:{}", keys.join(",")));
        }
    }
    lines.join("\n")
}
