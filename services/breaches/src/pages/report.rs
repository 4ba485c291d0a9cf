//! The report of the new exposures of a domain.

use askama::Template;

use super::frame::Frame;
use crate::app::ExposureReport;
use crate::model::instant;

/// The new exposures, and the setting of the monthly mail.
#[derive(Template)]
#[template(path = "report.html")]
pub struct ReportPage<'a> {
    pub frame: Frame,
    pub report: &'a ExposureReport,
    /// Whether the subscriber gets a monthly mail.
    pub monthly: bool,
    /// The time at which the report was made.
    pub now: i64,
}

impl ReportPage<'_> {
    fn since(&self) -> String {
        instant::date(self.report.period.since)
    }

    fn today(&self) -> String {
        instant::date(self.now)
    }

    /// Returns the day of a time such as `2026-01-31T12:00:00Z`.
    fn day<'t>(&self, time: &'t str) -> &'t str {
        time.get(..10).unwrap_or(time)
    }
}
