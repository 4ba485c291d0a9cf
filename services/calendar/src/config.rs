//! Calendar settings.

use std::path::{Path, PathBuf};

use auth::KeyError;
use clap::ValueEnum;
use outbound::Reach;
use shell::{SettingError, Switch};

use crate::model::cost::{Currency, is_code};
use crate::model::geo::{LONGEST_RADIUS, Unit};
use crate::model::language::Language;
use crate::model::list::PER_PAGE;
use crate::model::series::SeriesLimits;
use crate::model::zone::Zone;

/// Settings for the site, its lists, rate limits and first user.
#[derive(Clone, clap::Args)]
#[command(next_help_heading = "Calendar")]
pub struct Settings {
    /// Name of the site, shown on pages and in feeds
    #[arg(long, env, global = true, default_value = "Calendar", value_name = "TEXT")]
    pub site_name: String,

    /// Time zone of the site, as an IANA name
    #[arg(long, env, global = true, default_value = "UTC", value_name = "ZONE", value_parser = parse_zone)]
    pub site_timezone: Zone,

    /// Language of pages, frames and feeds: ar, cs, de, en, es, fr, it, ja, nl, pl, pt, sv, uk or
    /// zh
    #[arg(long, env, global = true, default_value = "en", value_name = "LANGUAGE", value_parser = parse_language)]
    pub site_locale: Language,

    /// Additional page languages, separated by spaces. Readers choose one with `?lang=de`. If
    /// empty, pages are only available in SITE_LOCALE
    #[arg(long, env, global = true, default_value = "", value_name = "LANGUAGES", value_parser = parse_languages)]
    pub site_locales: Languages,

    /// Default number of rows per page in lists, 1 to 1000. Must not exceed PER_PAGE_MAX
    #[arg(long, env, global = true, default_value_t = PER_PAGE, value_name = "ROWS", value_parser = clap::value_parser!(i64).range(1..=1000))]
    pub per_page: i64,

    /// Maximum number of rows per page in lists, 1 to 1000. Requests for more rows are capped at
    /// this number
    #[arg(long, env, global = true, default_value_t = 50, value_name = "ROWS", value_parser = clap::value_parser!(i64).range(1..=1000))]
    pub per_page_max: i64,

    /// Currency symbol for costs that do not contain one, up to 10 characters without digits
    #[arg(long, env, global = true, default_value = "$", value_name = "TEXT", value_parser = parse_symbol)]
    pub currency_symbol: String,

    /// Position of CURRENCY_SYMBOL. Pages in languages other than English follow the conventions of
    /// their language
    #[arg(long, env, global = true, default_value = "prefix")]
    pub currency_position: Position,

    /// ISO 4217 currency code for costs, such as EUR. If empty, responses do not include a code
    #[arg(long, env, global = true, default_value = "", value_name = "CODE", value_parser = parse_code)]
    pub currency_code: String,

    /// Default radius for location filters, in GEO_UNIT; above 0 and up to 100000
    #[arg(long, env, global = true, default_value_t = 25.0, value_name = "LENGTH", value_parser = parse_length)]
    pub geo_radius: f64,

    /// Unit of GEO_RADIUS, and default unit for location filters
    #[arg(long, env, global = true, default_value = "miles")]
    pub geo_unit: GeoUnit,

    /// Folder for stored images [default: DATA_DIR/media]
    #[arg(long, env, global = true, value_name = "FOLDER")]
    pub media_dir: Option<PathBuf>,

    /// How to handle an image that a request specifies by URL
    #[arg(long, env, global = true, default_value = "link")]
    pub image_mode: ImageMode,

    /// Also serve the API at /wp-json/tribe/events/v1, for existing clients of The Events Calendar
    #[arg(long, env, global = true, default_value = "on")]
    pub alias_prefix: Switch,

    /// Store HTML from editors and administrators without sanitizing it
    #[arg(long, env, global = true, default_value = "off")]
    pub unfiltered_html: Switch,

    /// Maximum number of events in an iCalendar feed, 1 to 100000. Clients get the rest with `page`
    #[arg(long, env, global = true, default_value_t = 50_000, value_name = "EVENTS", value_parser = clap::value_parser!(i64).range(1..=100_000))]
    pub ical_items_max: i64,

    /// Days of past events to include in the iCalendar feeds of pages, 0 to 3650
    #[arg(long, env, global = true, default_value_t = 90, value_name = "DAYS", value_parser = clap::value_parser!(i64).range(0..=3650))]
    pub ical_past_days: i64,

    /// How many months ahead to create the events of a series, 1 to 120
    #[arg(long, env, global = true, default_value_t = 24, value_name = "MONTHS", value_parser = clap::value_parser!(i32).range(1..=120))]
    pub series_ahead: i32,

    /// Maximum number of events per series within SERIES_AHEAD, 1 to 5000. Imported series are
    /// limited to 500
    #[arg(long, env, global = true, default_value_t = 1000, value_name = "EVENTS", value_parser = clap::value_parser!(i64).range(1..=5000))]
    pub series_max: i64,

    /// Days to keep items in the trash before erasing them, up to 3650; 0 keeps them forever
    #[arg(long, env, global = true, default_value_t = 30, value_name = "DAYS", value_parser = clap::value_parser!(i64).range(0..=3650))]
    pub trash_days: i64,

    /// Maximum read requests per minute for each key or client address; 0 disables the limit
    #[arg(long, env, global = true, default_value_t = 600, value_name = "N")]
    pub rate_read_rpm: u32,

    /// Maximum write requests per minute for each key or client address; 0 disables the limit
    #[arg(long, env, global = true, default_value_t = 120, value_name = "N")]
    pub rate_write_rpm: u32,

    /// Time limit in milliseconds for expensive lists (searches, and venues or organizers filtered
    /// by their events), including time in the queue; 1 to 60000. Also limits how long a page with
    /// more than 256 KiB of text waits for memory. Requests that exceed the limit get 503
    #[arg(long, env, global = true, default_value_t = 3000, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=60_000))]
    pub list_time_ms: u64,

    /// Memory for cached responses in MiB, 0 to 65536; 0 disables the cache. Responses are cached
    /// until any data that events display changes
    #[arg(long, env, global = true, default_value_t = 64, value_name = "MIB", value_parser = parse_mebibytes)]
    pub render_cache_mb: usize,

    /// Allow webhooks at private addresses
    #[arg(long, env, global = true, default_value = "off")]
    pub webhook_allow_private: Switch,

    /// Minimum interval between two runs of a subscription in minutes, 1 to 1440
    #[arg(long, env, global = true, default_value_t = 15, value_name = "MINUTES", value_parser = clap::value_parser!(i64).range(1..=1440))]
    pub subscription_interval_min: i64,

    /// Maximum uncompressed size of a subscribed file in MiB, 1 to 256
    #[arg(long, env, global = true, default_value_t = 16, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=256))]
    pub subscription_file_mb: u64,

    /// Time limit for fetching a subscribed file in seconds, including redirects, and for reading
    /// it; 1 to 600
    #[arg(long, env, global = true, default_value_t = 60, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=600))]
    pub subscription_time_s: u64,

    /// Allow subscriptions to private addresses
    #[arg(long, env, global = true, default_value = "off")]
    pub subscription_allow_private: Switch,

    /// Origins that may embed the calendar in frames, such as `https://town.example`, separated by
    /// spaces. `https://*.town.example` allows all subdomains, and `*` allows every site. If empty,
    /// embedding is not allowed
    #[arg(long, env, global = true, default_value = "", value_name = "ORIGINS", value_parser = parse_origins)]
    pub embed_origins: FrameOrigins,

    /// Login of the first user. Only used on the first start
    #[arg(long, env, global = true, default_value = "admin", value_name = "LOGIN", value_parser = parse_login)]
    pub admin_login: String,

    /// API key of the first user, 32 hexadecimal digits. Only used on the first start; ignored with
    /// a warning after that [default: generated and stored in DATA_DIR/admin-key]
    #[arg(long, env, global = true, hide_env_values = true, value_name = "KEY")]
    pub admin_key: Option<String>,
}

impl Settings {
    /// Returns the currency for costs without a symbol.
    pub fn currency(&self) -> Currency {
        Currency {
            symbol: self.currency_symbol.clone(),
            prefix: self.currency_position == Position::Prefix,
            code: self.currency_code.clone(),
        }
    }

    /// Checks settings that depend on each other, and the key, which must not appear in an error
    /// message.
    ///
    /// # Errors
    /// Returns a message for the operator.
    pub fn check(&self) -> Result<(), SettingError> {
        let (rows, most) = (self.per_page, self.per_page_max);
        if rows > most {
            return Err(SettingError(format!(
                "PER_PAGE is {rows}, above PER_PAGE_MAX, which is {most}"
            )));
        }
        let key = self.admin_key.as_deref().unwrap_or_default();
        if !key.is_empty() && !auth::is_well_formed(key) {
            return Err(SettingError(format!("ADMIN_KEY: {}", KeyError::Malformed)));
        }
        Ok(())
    }

    /// Returns the page languages, starting with the default.
    pub fn languages(&self) -> Vec<Language> {
        let others = self.site_locales.0.iter().filter(|language| **language != self.site_locale);
        std::iter::once(&self.site_locale).chain(others).copied().collect()
    }

    pub fn series_limits(&self) -> SeriesLimits {
        SeriesLimits {
            months: self.series_ahead,
            most: usize::try_from(self.series_max).unwrap_or(0),
            // Trashed occurrences are excluded dates, and the series must not end no matter how
            // large their number is.
            dates: usize::MAX,
        }
    }

    pub fn imported_series(&self) -> SeriesLimits {
        let SeriesLimits { months, most, .. } = self.series_limits();
        let limits = SeriesLimits::IMPORTED;
        SeriesLimits { months, most: most.min(limits.most), ..limits }
    }

    /// Returns the addresses that webhooks are allowed to contact.
    pub fn webhook_reach(&self) -> Reach {
        if self.webhook_allow_private.is_on() { Reach::anywhere() } else { Reach::public() }
    }

    /// Returns the addresses that subscriptions are allowed to contact.
    pub fn subscription_reach(&self) -> Reach {
        if self.subscription_allow_private.is_on() { Reach::anywhere() } else { Reach::public() }
    }

    /// Returns the media folder.
    pub fn media_dir(&self, data_dir: &Path) -> PathBuf {
        self.media_dir.clone().unwrap_or_else(|| data_dir.join("media"))
    }
}

/// The languages in which pages are available in addition to the default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Languages(Vec<Language>);

/// The origins that may embed the calendar in a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameOrigins(String);

impl FrameOrigins {
    /// Returns the source list for a `frame-ancestors` directive.
    pub fn sources(&self) -> &str {
        if self.0.is_empty() { "'none'" } else { &self.0 }
    }
}

/// Position of a currency symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Position {
    /// Before the amount
    Prefix,
    /// After the amount
    Postfix,
}

/// How to handle an image that a request specifies by URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ImageMode {
    /// Record the URL without requesting it
    Link,
    /// Download the image, check it and store it
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

fn parse_language(text: &str) -> Result<Language, String> {
    let codes = Language::ALL.map(Language::code).join(", ");
    Language::parse(text).ok_or_else(|| format!("{text:?} is not one of {codes}"))
}

fn parse_languages(text: &str) -> Result<Languages, String> {
    let mut languages = Vec::new();
    for language in text.split_whitespace().map(parse_language) {
        let language = language?;
        if !languages.contains(&language) {
            languages.push(language);
        }
    }
    Ok(Languages(languages))
}

fn parse_origins(text: &str) -> Result<FrameOrigins, String> {
    let is_origin = |origin: &&str| {
        let host = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
        let name = host.map(|host| host.strip_prefix("*.").unwrap_or(host));
        let name = name.map(|name| name.strip_suffix(":*").unwrap_or(name));
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte);
        *origin == "*" || name.is_some_and(|name| !name.is_empty() && name.bytes().all(fits))
    };
    let origins: Vec<&str> = text.split_whitespace().collect();
    match origins.iter().find(|origin| !is_origin(origin)) {
        Some(other) => Err(format!("{other:?} is not an origin such as https://town.example")),
        None => Ok(FrameOrigins(origins.join(" "))),
    }
}

fn parse_code(text: &str) -> Result<String, String> {
    let fits = text.is_empty() || is_code(text);
    fits.then(|| text.to_owned()).ok_or_else(|| "an ISO 4217 code such as EUR".to_owned())
}

/// Parses a currency symbol. It must not contain digits, because costs with the symbol couldn't be
/// parsed otherwise.
fn parse_symbol(text: &str) -> Result<String, String> {
    let fits = text.chars().count() <= 10
        && !text.contains(|c: char| c.is_numeric() || c.is_control() || matches!(c, '<' | '"'));
    fits.then(|| text.to_owned()).ok_or_else(|| "at most 10 characters, no digits".to_owned())
}

/// Parses a login. It must not contain colons, because the first colon ends the login in basic
/// authentication.
pub fn parse_login(text: &str) -> Result<String, String> {
    let fits = (1..=60).contains(&text.chars().count())
        && !text.contains(|c: char| c.is_whitespace() || c.is_control() || c == ':');
    fits.then(|| text.to_owned())
        .ok_or_else(|| "1 to 60 characters without spaces or colons".to_owned())
}

fn parse_mebibytes(text: &str) -> Result<usize, String> {
    let fits = |mebibytes: &usize| *mebibytes <= 65_536;
    text.parse().ok().filter(fits).ok_or_else(|| "a number from 0 to 65536".to_owned())
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
    fn memory_for_answers_is_limited() {
        assert_eq!((parse_mebibytes("0"), parse_mebibytes("65536")), (Ok(0), Ok(65_536)));
        for text in ["-1", "65537", "", "1.5", "64M"] {
            assert!(parse_mebibytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn languages_are_known() {
        assert_eq!(parse_language("ar"), Ok(Language::Ar));
        let several = Languages(vec![Language::De, Language::Ja]);
        assert_eq!(parse_languages(" de  ja de "), Ok(several));
        assert_eq!(parse_languages(""), Ok(Languages(Vec::new())));
        for text in ["", "DE", "de-AT", "xx"] {
            assert!(parse_language(text).is_err(), "{text}");
        }
        assert!(parse_languages("de,ja").is_err());
    }

    #[test]
    fn radius_is_a_length() {
        assert_eq!(parse_length("0.5"), Ok(0.5));
        for text in ["0", "-1", "nan", "inf", "1e308", "", "far"] {
            assert!(parse_length(text).is_err(), "{text}");
        }
    }
}
