//! The settings of the calendar.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use shell::Switch;

use crate::model::cost::Currency;
use crate::model::geo::Unit;
use crate::model::list::PER_PAGE;
use crate::model::zone::Zone;

/// What the site is, how it lists and whom it lets in.
#[derive(Clone, clap::Args)]
#[command(next_help_heading = "Calendar")]
pub struct Settings {
    /// Time zone of the site, an IANA name
    #[arg(long, env, global = true, default_value = "UTC", value_name = "ZONE", value_parser = parse_zone)]
    pub site_timezone: Zone,

    /// Rows per page of a list unless asked otherwise
    #[arg(long, env, global = true, default_value_t = PER_PAGE, value_name = "ROWS", value_parser = clap::value_parser!(i64).range(1..=1000))]
    pub per_page: i64,

    /// Most rows per page of a list
    #[arg(long, env, global = true, default_value_t = 50, value_name = "ROWS", value_parser = clap::value_parser!(i64).range(1..=1000))]
    pub per_page_max: i64,

    /// Currency symbol of costs that name none
    #[arg(long, env, global = true, default_value = "$", value_name = "TEXT")]
    pub currency_symbol: String,

    /// Where the currency symbol stands
    #[arg(long, env, global = true, default_value = "prefix")]
    pub currency_position: Position,

    /// Currency code of costs, ISO 4217
    #[arg(long, env, global = true, default_value = "", value_name = "CODE")]
    pub currency_code: String,

    /// Radius of place filters that name none, in GEO_UNIT
    #[arg(long, env, global = true, default_value_t = 25.0, value_name = "LENGTH", value_parser = parse_length)]
    pub geo_radius: f64,

    /// Unit of radius
    #[arg(long, env, global = true, default_value = "miles")]
    pub geo_unit: GeoUnit,

    /// Folder of stored images [default: DATA_DIR/media]
    #[arg(long, env, global = true, value_name = "FOLDER")]
    pub media_dir: Option<PathBuf>,

    /// What is done with an image that a write names by address
    #[arg(long, env, global = true, default_value = "link")]
    pub image_mode: ImageMode,

    /// Serves the paths of existing clients too
    #[arg(long, env, global = true, default_value = "on")]
    pub alias_prefix: Switch,

    /// Stores HTML of editors and administrators as it comes
    #[arg(long, env, global = true, default_value = "off")]
    pub unfiltered_html: Switch,

    /// Reading requests per minute and key or address; 0 for no limit
    #[arg(long, env, global = true, default_value_t = 600, value_name = "N")]
    pub rate_read_rpm: u32,

    /// Writing requests per minute and key or address; 0 for no limit
    #[arg(long, env, global = true, default_value_t = 120, value_name = "N")]
    pub rate_write_rpm: u32,

    /// Login of the first user, read at first start only
    #[arg(long, env, global = true, default_value = "admin", value_name = "LOGIN")]
    pub admin_login: String,

    /// Key of the first user, 32 hexadecimal digits, read at first start only [default: made and printed once]
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

/// What is done with an image that a write names by address.
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

fn parse_length(text: &str) -> Result<f64, String> {
    let length = text.parse().ok().filter(|length: &f64| length.is_finite() && *length > 0.0);
    length.ok_or_else(|| "a number above 0".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radius_is_a_length() {
        assert_eq!(parse_length("0.5"), Ok(0.5));
        for text in ["0", "-1", "nan", "inf", "", "far"] {
            assert!(parse_length(text).is_err(), "{text}");
        }
    }
}
