//! A page's query, and the API list parameters that it is converted to.

use jiff::civil::Date;

use super::embed::EmbedQuery;
use crate::model::language::Language;
use crate::model::month::Month;
use crate::model::period::Period;
use crate::wire::parameter_errors::ParameterErrors;
use crate::wire::params::Params;
use crate::wire::values::LARGEST_INTEGER;

/// Path of the event list page.
pub const LIST: &str = "/events/";

/// The parameter that selects past events. The name comes from the original plugin.
pub const PAST: (&str, &str) = ("eventDisplay", "past");

/// Path of the Atom feed.
pub const ATOM: &str = "/events/atom.xml";

/// Error message for an invalid day.
pub const DAY: &str = "must be a day such as 2027-03-14";

/// Maximum length of a search in characters.
const LONGEST: usize = 200;

/// A request for a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageQuery {
    pub search: String,
    /// Category slug.
    pub category: String,
    /// Tag slug.
    pub tag: String,
    /// The requested day or week, if any.
    pub period: Option<Period>,
    /// Whether the request is for a month, in the original plugin's URL format.
    pub is_month: bool,
    /// Whether the request is for past events, newest first.
    pub is_past: bool,
    /// Page number, starting from 1. 0 if the parameter is invalid.
    pub page: i64,
    /// Event slug, from a URL in the original plugin's format.
    pub event: String,
    /// Event id, from a URL in the original plugin's format.
    pub post: Option<i64>,
    /// Whether the request is for an iCalendar file.
    pub as_calendar: bool,
    /// Whether the iCalendar file is for Outlook.
    pub outlook: bool,
    /// The settings of an embedded page.
    pub embed: EmbedQuery,
    /// The language to include in links, or `None` for the site's default language.
    pub language: Option<Language>,
}

impl PageQuery {
    /// Decodes a query. Empty values count as absent.
    ///
    /// # Errors
    /// Returns an error if a parameter is invalid, or the search is too long.
    pub fn read(params: &Params) -> Result<PageQuery, ParameterErrors> {
        let text = |name: &str| params.text(name).unwrap_or_default().trim().to_owned();
        // The first name is ours, and the second one is the original plugin's.
        let either = |names: [&str; 2]| match text(names[0]) {
            own if own.is_empty() => text(names[1]),
            own => own,
        };
        let is_on = |name: &str| params.text(name) == Some("1");
        let day = either(["date", "tribe-bar-date"]);
        // The original plugin's month view sends a month as the date.
        let month = Month::parse(&text("tribe-bar-date")).filter(|month| month.code() == day);
        let period = month.map(|month| Period::Day(month.first())).or(Period::parse_day(&day));
        if !day.is_empty() && period.is_none() {
            return Err(ParameterErrors::one("date", DAY));
        }
        let search = either(["search", "tribe-bar-search"]);
        if search.chars().count() > LONGEST {
            return Err(ParameterErrors::one("search", "must be at most 200 characters long"));
        }
        let page = either(["page", "paged"]);
        let outlook = is_on("outlook-ical");
        let as_calendar = is_on("ical") || outlook;
        let is_past = [PAST.0, "tribe_event_display"].iter().any(|name| text(name) == PAST.1);
        let embed = EmbedQuery::read(params)?;
        Ok(PageQuery {
            search,
            category: either(["category", "tribe_events_cat"]),
            tag: text("tag"),
            period,
            is_month: month.is_some() || text("eventDisplay") == "month",
            event: text("tribe_events"),
            post: text("p").parse().ok(),
            page: if page.is_empty() { 1 } else { number(&page) },
            // iCalendar files always include recent past events.
            is_past: is_past && period.is_none() && !as_calendar,
            as_calendar,
            outlook,
            embed,
            language: None,
        })
    }

    /// Returns whether the list is filtered by a search, a category or a tag.
    pub fn is_narrowed(&self) -> bool {
        [&self.search, &self.category, &self.tag].iter().any(|text| !text.is_empty())
    }

    /// Returns the path of the page, relative to the base URL.
    pub fn path(&self) -> String {
        match self.period {
            Some(period) if self.is_month => {
                format!("{LIST}month/{}/", period.first().strftime("%Y-%m"))
            }
            None if self.is_month => format!("{LIST}month/"),
            Some(period) => period.path(),
            None => LIST.to_owned(),
        }
    }

    /// Returns API list parameters for the events in the period. Without a period, the list
    /// contains past events if requested, and otherwise current and upcoming events.
    pub fn list(&self) -> Vec<(&'static str, String)> {
        let mut pairs = match self.period {
            Some(period) => within(period.first(), period.last()),
            None if self.is_past => {
                [("ends_before", "now"), ("strict_dates", "true"), ("order", "desc")]
                    .map(|(name, text)| (name, text.to_owned()))
                    .to_vec()
            }
            None => vec![("ends_after", "now".to_owned()), ("strict_dates", "true".to_owned())],
        };
        pairs.extend(self.filters());
        pairs
    }

    /// Returns API list parameters for the search, category and tag.
    pub fn filters(&self) -> Vec<(&'static str, String)> {
        let texts = [("search", &self.search), ("categories", &self.category), ("tags", &self.tag)];
        let given = texts.into_iter().filter(|(_, text)| !text.is_empty());
        given.map(|(name, text)| (name, text.clone())).collect()
    }

    /// Returns API list parameters for an iCalendar file. The file contains the events in the
    /// period or, without a period, the events that end after `since`.
    pub fn subscription(&self, since: Date) -> Vec<(&'static str, String)> {
        let mut pairs = self.list();
        if self.period.is_none() {
            pairs.retain(|(name, _)| !matches!(*name, "ends_after" | "strict_dates"));
            pairs.push(("ends_after", since.to_string()));
        }
        pairs
    }

    /// Returns the URL of another page of this list.
    pub fn href(&self, path: &str, page: i64) -> String {
        let mut pairs = self.narrowing();
        pairs.extend(self.is_past.then(|| (PAST.0, PAST.1.to_owned())));
        pairs.extend(self.language.map(|language| ("lang", language.code().to_owned())));
        pairs.extend((page > 1).then(|| ("page", page.to_string())));
        address(path, &pairs)
    }

    /// Returns the URL of an iCalendar file with the same events. For a week, the URL includes the
    /// language, because the language determines on which day a week starts.
    pub fn calendar(&self, path: &str) -> String {
        let mut pairs = self.narrowing();
        let language = self.language.filter(|_| matches!(self.period, Some(Period::Week(_))));
        pairs.extend(language.map(|language| ("lang", language.code().to_owned())));
        pairs.push((if self.outlook { "outlook-ical" } else { "ical" }, "1".to_owned()));
        address(path, &pairs)
    }

    fn narrowing(&self) -> Vec<(&'static str, String)> {
        let texts = [
            ("search", self.search.clone()),
            ("category", self.category.clone()),
            ("tag", self.tag.clone()),
        ];
        texts.into_iter().filter(|(_, text)| !text.is_empty()).collect()
    }
}

/// Parses a page number. Returns 0 if it is invalid.
fn number(text: &str) -> i64 {
    text.parse().ok().filter(|page| *page <= LARGEST_INTEGER).unwrap_or(0)
}

/// Returns API list parameters for the events from `first` to `last`, inclusive.
pub fn within(first: Date, last: Date) -> Vec<(&'static str, String)> {
    vec![
        ("start_date", first.to_string()),
        ("end_date", last.to_string()),
        ("overlaps", "true".to_owned()),
    ]
}

fn address(path: &str, pairs: &[(&str, String)]) -> String {
    if pairs.is_empty() {
        return path.to_owned();
    }
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(pairs);
    format!("{path}?{}", query.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<PageQuery, ParameterErrors> {
        PageQuery::read(&Params::from_pairs(pairs.iter().copied()))
    }

    #[test]
    fn empty_form_fields_count_as_absent() {
        let query = read(&[("search", " "), ("category", ""), ("date", ""), ("page", "")]).unwrap();
        assert_eq!(query, PageQuery { page: 1, ..PageQuery::default() });
        assert!(!query.is_narrowed());
        assert_eq!(query.href("/events/", 1), "/events/");
    }

    #[test]
    fn links_keep_the_query() {
        let query = read(&[("search", "a&b"), ("tag", "x"), ("page", "2")]).unwrap();
        assert_eq!(query.href("/events/", 3), "/events/?search=a%26b&tag=x&page=3");
        assert_eq!(query.calendar("/events/"), "/events/?search=a%26b&tag=x&ical=1");
    }

    #[test]
    fn invalid_days_and_pages_are_rejected() {
        for text in ["2027-3-1", "20270301", "2027-03-32", "tomorrow", "2027-03-01T00:00"] {
            assert!(read(&[("date", text)]).is_err(), "{text}");
        }
        assert!(read(&[("search", &"x".repeat(201))]).is_err());
        for text in ["x", "-", "1.5", "9007199254740992", "99999999999999999999"] {
            assert_eq!(read(&[("page", text)]).unwrap().page, 0, "{text}");
        }
    }
}
