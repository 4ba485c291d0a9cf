//! What stands round the components of a calendar.

use super::lines::{bare, line, text_line};

/// The name of this program in the calendars that it writes: events that repeat are events of their
/// own there.
pub const PRODUCT: &str = "-//Quintet//Calendar//EN";

/// Writes the beginning of a calendar; programs of Microsoft take it without a name.
pub fn begin(out: &mut String, site: &str, url: &str, outlook: bool) {
    line(out, "BEGIN", "VCALENDAR");
    line(out, "VERSION", "2.0");
    line(out, "PRODID", PRODUCT);
    line(out, "CALSCALE", "GREGORIAN");
    line(out, "METHOD", "PUBLISH");
    if !outlook {
        text_line(out, "X-WR-CALNAME", site);
    }
    text_line(out, "X-WR-CALDESC", &format!("Events of {site}"));
    line(out, "X-ORIGINAL-URL", &bare(url));
    line(out, "REFRESH-INTERVAL;VALUE=DURATION", "PT1H");
    line(out, "X-PUBLISHED-TTL", "PT1H");
}

/// Writes the end of a calendar.
pub fn end(out: &mut String) {
    line(out, "END", "VCALENDAR");
}
