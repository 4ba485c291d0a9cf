//! Calendar file headers and footers.

use super::lines::{bare, line, text_line};

/// The PRODID of the calendars we generate. Imports use it to recognise our own files.
pub const PRODUCT: &str = "-//Quintet//Calendar//EN";

/// Identifies the calendar that wrote a file.
pub const IDENTITY: &str = "X-QUINTET-CALENDAR";

#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    pub id: &'a str,
    /// The site name.
    pub site: &'a str,
    /// The site URL.
    pub url: &'a str,
    /// Whether the file is for Outlook. If so, we omit the calendar name.
    pub outlook: bool,
    pub description: &'a str,
}

/// Writes the start of a calendar.
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
