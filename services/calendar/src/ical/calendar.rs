//! The beginning and the end of a calendar file.

use super::lines::{bare, line, text_line};

/// The PRODID of generated calendars. In such calendars, occurrences of a series are separate
/// events.
pub const PRODUCT: &str = "-//Quintet//Calendar//EN";

/// The property that identifies the calendar that wrote a file.
pub const IDENTITY: &str = "X-QUINTET-CALENDAR";

/// The header properties of a calendar file.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// The identity of the calendar.
    pub id: &'a str,
    /// The name of the site.
    pub site: &'a str,
    /// The URL of the site.
    pub url: &'a str,
    /// Whether the file is for Outlook, which must not get a name.
    pub outlook: bool,
    /// The description.
    pub description: &'a str,
}

/// Writes the beginning of a calendar.
pub fn begin(out: &mut String, Head { id, site, url, outlook, description }: Head<'_>) {
    line(out, "BEGIN", "VCALENDAR");
    line(out, "VERSION", "2.0");
    line(out, "PRODID", PRODUCT);
    line(out, "CALSCALE", "GREGORIAN");
    line(out, "METHOD", "PUBLISH");
    line(out, IDENTITY, id);
    if !outlook {
        text_line(out, "X-WR-CALNAME", site);
    }
    text_line(out, "X-WR-CALDESC", description);
    line(out, "X-ORIGINAL-URL", &bare(url));
    line(out, "REFRESH-INTERVAL;VALUE=DURATION", "PT1H");
    line(out, "X-PUBLISHED-TTL", "PT1H");
}

/// Writes the end of a calendar.
pub fn end(out: &mut String) {
    line(out, "END", "VCALENDAR");
}
