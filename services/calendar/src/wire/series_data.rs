//! Series in the schema.org vocabulary.

use jiff::civil::DateTime;
use serde::Serialize;
use utoipa::ToSchema;

use super::dates::iso;
use super::render_context::RenderContext;
use crate::model::event::Event;
use crate::model::html;
use crate::model::included::InSeries;
use crate::model::language::Language;
use crate::model::schedule::{wall_from_seconds, wall_seconds};
use crate::model::series::Series;

/// The series of an event, as a schema.org `EventSeries`.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SeriesData {
    #[serde(rename = "@type")]
    pub kind: &'static str,
    pub name: String,
    pub url: String,
    pub start_date: String,
    /// End of the last date of the rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_date: Option<String>,
    pub event_schedule: ScheduleData,
}

/// The schedule of a series, as a schema.org `Schedule`.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScheduleData {
    #[serde(rename = "@type")]
    pub kind: &'static str,
    /// Interval between events, as an ISO 8601 duration; absent if the series does not follow a
    /// rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat_frequency: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat_count: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_day: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_month: Vec<i8>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_month_day: Vec<i8>,
    pub start_date: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_date: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule_timezone: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub except_date: Vec<String>,
}

/// An event's series, along with the local start of the last occurrence by rule. Finding that
/// occurrence can mean expanding most of the rule, so this is only done once per page.
#[derive(Clone, Copy)]
pub struct InSeriesUntil<'s> {
    series: &'s Series,
    last: Option<DateTime>,
}

impl InSeriesUntil<'_> {
    pub fn of(one: &InSeries) -> InSeriesUntil<'_> {
        InSeriesUntil { series: &one.series, last: one.series.plan.last_start() }
    }

    /// Describes in words how often the series takes place.
    pub fn spoken(self, language: Language) -> String {
        self.series.plan.spoken(self.last, language)
    }
}

/// Describes the series that `event` belongs to.
pub fn of_series(event: &Event, member: InSeriesUntil<'_>, view: RenderContext<'_>) -> SeriesData {
    let InSeriesUntil { series, last } = member;
    let plan = &series.plan;
    let rule = plan.parsed();
    let (start, end) = (plan.start(), wall_from_seconds(plan.end_local));
    let time =
        |wall: DateTime| (!plan.all_day).then(|| wall.time().strftime("%H:%M:%S").to_string());
    let dated = |moment: i64| match plan.all_day {
        true => plan.wall(moment).date().to_string(),
        false => iso(&plan.zone, moment),
    };
    let schedule = ScheduleData {
        kind: "Schedule",
        repeat_frequency: rule.as_ref().map(|rule| rule.period_in_iso()),
        repeat_count: rule.as_ref().and_then(|rule| rule.count()),
        by_day: rule.as_ref().map(|rule| rule.days_in_schema()).unwrap_or_default(),
        by_month: rule.as_ref().map(|rule| rule.months().to_vec()).unwrap_or_default(),
        by_month_day: rule.as_ref().map(|rule| rule.month_days().to_vec()).unwrap_or_default(),
        start_date: start.date().to_string(),
        end_date: last.map(|last| last.date().to_string()),
        start_time: time(start),
        end_time: time(end),
        schedule_timezone: (!plan.all_day).then(|| plan.zone.name().to_owned()),
        except_date: plan.exdates.iter().filter_map(|key| plan.moment(key)).map(dated).collect(),
    };
    SeriesData {
        kind: "EventSeries",
        name: html::plain(&event.title),
        url: format!("{}/event/{}/", view.urls.base, series.slug),
        start_date: dated(plan.first()),
        end_date: last.map(|last| {
            let end = wall_seconds(last) + plan.end_local - plan.start_local;
            dated(plan.at(wall_from_seconds(end)))
        }),
        event_schedule: schedule,
    }
}
