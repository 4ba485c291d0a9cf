//! An embedded page's query.

use crate::model::language::Language;
use crate::model::month::Month;
use crate::wire::parameter_errors::ParameterErrors;
use crate::wire::params::Params;

/// Default number of events in an embedded list.
const EVENTS: i64 = 5;

/// Maximum number of events in an embedded list.
const MOST_EVENTS: i64 = 50;

/// The colour scheme of an embedded page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Follows the reader's preference.
    #[default]
    Auto,
    Light,
    Dark,
}

/// The settings of an embedded page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbedQuery {
    pub theme: Theme,
    /// Number of events in an embedded list.
    pub count: i64,
    pub month: Option<Month>,
}

impl Default for EmbedQuery {
    fn default() -> EmbedQuery {
        EmbedQuery { theme: Theme::Auto, count: EVENTS, month: None }
    }
}

impl EmbedQuery {
    /// Decodes the parameters. Empty values count as absent.
    ///
    /// # Errors
    /// Returns an error if a parameter is invalid.
    pub fn read(params: &Params) -> Result<EmbedQuery, ParameterErrors> {
        let text = |name: &str| params.text(name).unwrap_or_default().trim();
        let theme = match text("theme") {
            "" | "auto" => Theme::Auto,
            "light" => Theme::Light,
            "dark" => Theme::Dark,
            _ => return Err(ParameterErrors::one("theme", "must be auto, light or dark")),
        };
        let count = match text("count") {
            "" => EVENTS,
            text => text
                .parse()
                .ok()
                .filter(|count| (1..=MOST_EVENTS).contains(count))
                .ok_or_else(|| ParameterErrors::one("count", "must be 1 to 50"))?,
        };
        let month =
            match text("month") {
                "" => None,
                text => Some(Month::parse(text).ok_or_else(|| {
                    ParameterErrors::one("month", "must be a month such as 2027-03")
                })?),
            };
        Ok(EmbedQuery { theme, count, month })
    }

    /// Returns the CSS class of the root element.
    pub fn class(&self) -> &'static str {
        match self.theme {
            Theme::Auto => "auto",
            Theme::Light => "light",
            Theme::Dark => "dark",
        }
    }

    /// Returns the query for a month's embedded page.
    pub fn query_of(&self, month: Month, language: Option<Language>) -> String {
        let query = format!("theme={}&month={}", self.class(), month.code());
        match language {
            Some(language) => format!("{query}&lang={}", language.code()),
            None => query,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_values_are_rejected() {
        let read = |name, text| EmbedQuery::read(&Params::from_pairs([(name, text)]));
        assert_eq!(read("count", " "), Ok(EmbedQuery::default()));
        assert_eq!(read("count", "50").unwrap().count, 50);
        assert_eq!(read("theme", "dark").unwrap().class(), "dark");
        for (name, text) in [
            ("count", "0"),
            ("count", "51"),
            ("count", "x"),
            ("theme", "red"),
            ("month", "2027-13"),
        ] {
            assert!(read(name, text).is_err(), "{name}={text}");
        }
    }
}
