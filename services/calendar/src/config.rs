//! The settings of the calendar.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use outbound::Reach;
use shell::Switch;

use crate::model::cost::{Currency, is_code};
use crate::model::geo::{LONGEST_RADIUS, Unit};
use crate::model::list::PER_PAGE;
use crate::model::zone::Zone;

/// What the site is, how it lists and whom it lets in.
#[derive(Clone, clap::Args)]
#[command(next_help_heading = "Calendar")]
pub struct Settings {
    /// Name of the site, as feeds show it
    #[arg(long, env, global = true, default_value = "Calendar", value_name = "TEXT")]
    pub site_name: String,

    /// Time zone of the site, an IANA name
    #[arg(long, env, global = true, default_value = "UTC", value_name = "ZONE", value_parser = parse_zone)]
    pub site_timezone: Zone,

    /// Rows per page of a list unless asked otherwise, 1 to 1000
    #[arg(long, env, global = true, default_value_t = PER_PAGE, value_name = "ROWS", value_parser = clap::value_parser!(i64).range(1..=1000))]
    pub per_page: i64,

    /// Most rows per page of a list, 1 to 1000
    #[arg(long, env, global = true, default_value_t = 50, value_name = "ROWS", value_parser = clap::value_parser!(i64).range(1..=1000))]
    pub per_page_max: i64,

    /// Currency symbol of costs that name none
    #[arg(long, env, global = true, default_value = "$", value_name = "TEXT", value_parser = parse_symbol)]
    pub currency_symbol: String,

    /// Where the currency symbol stands
    #[arg(long, env, global = true, default_value = "prefix")]
    pub currency_position: Position,

    /// Currency code of costs, ISO 4217
    #[arg(long, env, global = true, default_value = "", value_name = "CODE", value_parser = parse_code)]
    pub currency_code: String,

    /// Radius of place filters that name none, in GEO_UNIT, above 0, up to 100000
    #[arg(long, env, global = true, default_value_t = 25.0, value_name = "LENGTH", value_parser = parse_length)]
    pub geo_radius: f64,

    /// Unit of radius
    #[arg(long, env, global = true, default_value = "miles")]
    pub geo_unit: GeoUnit,

    /// Folder of stored images [default: DATA_DIR/media]
    #[arg(long, env, global = true, value_name = "FOLDER")]
    pub media_dir: Option<PathBuf>,

    /// What is done with an image that a write names by URL
    #[arg(long, env, global = true, default_value = "link")]
    pub image_mode: ImageMode,

    /// Serves the paths of existing clients too
    #[arg(long, env, global = true, default_value = "on")]
    pub alias_prefix: Switch,

    /// Stores HTML of editors and administrators as it comes
    #[arg(long, env, global = true, default_value = "off")]
    pub unfiltered_html: Switch,

    /// Events of an iCalendar feed unless asked otherwise, 1 to 100000
    #[arg(long, env, global = true, default_value_t = 1000, value_name = "EVENTS", value_parser = clap::value_parser!(i64).range(1..=100_000))]
    pub ical_items: i64,

    /// Most events of an iCalendar feed, 1 to 100000
    #[arg(long, env, global = true, default_value_t = 5000, value_name = "EVENTS", value_parser = clap::value_parser!(i64).range(1..=100_000))]
    pub ical_items_max: i64,

    /// Reading requests per minute and key or address; 0 for no limit
    #[arg(long, env, global = true, default_value_t = 600, value_name = "N")]
    pub rate_read_rpm: u32,

    /// Writing requests per minute and key or address; 0 for no limit
    #[arg(long, env, global = true, default_value_t = 120, value_name = "N")]
    pub rate_write_rpm: u32,

    /// Milliseconds that a costly list (search, combined filters, other orders) may take, waiting
    /// included, and that a page with more than 256 KiB of texts may wait for room, before it is
    /// answered 503; 1 to 60000
    #[arg(long, env, global = true, default_value_t = 3000, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=60_000))]
    pub list_time_ms: u64,

    /// Whether webhooks may be at private addresses
    #[arg(long, env, global = true, default_value = "off")]
    pub webhook_allow_private: Switch,

    /// Login of the first user, read at first start only
    #[arg(long, env, global = true, default_value = "admin", value_name = "LOGIN", value_parser = parse_login)]
    pub admin_login: String,

    /// Key of the first user, 32 hexadecimal digits; read at the first start, ignored with a warning later [default: made and kept in DATA_DIR/admin-key]
    #[arg(long, env, global = true, hide_env_values = true, value_name = "KEY")]
    pub admin_key: Option<String>,
}

impl Settings {
    /// Returns how costs are written that name no currency.
    pub fn currency(&self) -> Currency {
        Currency {
            symbol: self.currency_symbol.clone(),
            prefix: self.currency_position == Position::Prefix,
            code: self.currency_code.clone(),
        }
    }

    /// Checks what concerns more than one setting.
    ///
    /// # Errors
    /// A sentence for the operator.
    pub fn check(&self) -> anyhow::Result<()> {
        let (rows, most) = (self.per_page, self.per_page_max);
        anyhow::ensure!(rows <= most, "PER_PAGE is {rows}, above PER_PAGE_MAX, which is {most}");
        let (events, most) = (self.ical_items, self.ical_items_max);
        anyhow::ensure!(
            events <= most,
            "ICAL_ITEMS is {events}, above ICAL_ITEMS_MAX, which is {most}"
        );
        Ok(())
    }

    /// Returns where webhooks may be.
    pub fn webhook_reach(&self) -> Reach {
        if self.webhook_allow_private.is_on() { Reach::anywhere() } else { Reach::public() }
    }

    /// Returns the folder of stored images.
    pub fn media_dir(&self, data_dir: &Path) -> PathBuf {
        self.media_dir.clone().unwrap_or_else(|| data_dir.join("media"))
    }
}

/// Where a currency symbol stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Position {
    /// Before the amount
    Prefix,
    /// Behind the amount
    Postfix,
}

/// What is done with an image that a write names by URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ImageMode {
    /// The address is recorded; nothing is asked for
    Link,
    /// The image is fetched, checked and stored
    Fetch,
}

/// A unit of length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GeoUnit {
    /// Miles
    Miles,
    /// Kilometres
    Km,
}

impl From<GeoUnit> for Unit {
    fn from(unit: GeoUnit) -> Unit {
        match unit {
            GeoUnit::Miles => Unit::Miles,
            GeoUnit::Km => Unit::Kilometres,
        }
    }
}

fn parse_zone(text: &str) -> Result<Zone, String> {
    Zone::named(text).ok_or_else(|| "no IANA time zone has this name".to_owned())
}

fn parse_code(text: &str) -> Result<String, String> {
    let fits = text.is_empty() || is_code(text);
    fits.then(|| text.to_owned()).ok_or_else(|| "a code of ISO 4217 such as EUR".to_owned())
}

/// Accepts what costs are told from: a symbol without digits.
fn parse_symbol(text: &str) -> Result<String, String> {
    let fits = text.chars().count() <= 10
        && !text.contains(|c: char| c.is_numeric() || c.is_control() || matches!(c, '<' | '"'));
    fits.then(|| text.to_owned()).ok_or_else(|| "at most 10 characters, no digits".to_owned())
}

/// Accepts what can stand in a header before a colon.
pub fn parse_login(text: &str) -> Result<String, String> {
    let fits = (1..=60).contains(&text.chars().count())
        && !text.contains(|c: char| c.is_whitespace() || c.is_control() || c == ':');
    fits.then(|| text.to_owned())
        .ok_or_else(|| "1 to 60 characters without blanks and colons".to_owned())
}

fn parse_length(text: &str) -> Result<f64, String> {
    let fits = |length: &f64| *length > 0.0 && *length <= LONGEST_RADIUS;
    text.parse().ok().filter(fits).ok_or_else(|| "a number above 0 up to 100000".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_logins_are_checked() {
        for text in ["", "EUR", "JPY"] {
            assert_eq!(parse_code(text).as_deref(), Ok(text));
        }
        for text in ["eur", "EURO", "€", "XYZ"] {
            assert!(parse_code(text).is_err(), "{text}");
        }
        assert!(parse_login("admin").is_ok());
        for text in ["", " ", "a b", "a:b", "a\n", &"x".repeat(61)] {
            assert!(parse_login(text).is_err(), "{text}");
        }
        for text in ["$", "€", "CHF ", ""] {
            assert_eq!(parse_symbol(text).as_deref(), Ok(text));
        }
        for text in ["5", "<b>", "\n", &"x".repeat(11)] {
            assert!(parse_symbol(text).is_err(), "{text}");
        }
    }

    #[test]
    fn radius_is_a_length() {
        assert_eq!(parse_length("0.5"), Ok(0.5));
        for text in ["0", "-1", "nan", "inf", "1e308", "", "far"] {
            assert!(parse_length(text).is_err(), "{text}");
        }
    }
}
