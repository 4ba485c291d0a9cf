//! The query of a page, and the API list parameters that it corresponds to.

use jiff::civil::Date;

use super::embed::EmbedQuery;
use crate::model::language::Language;
use crate::model::period::Period;
use crate::wire::parameter_errors::ParameterErrors;
use crate::wire::params::Params;
use crate::wire::values::LARGEST_INTEGER;

/// The path of the list.
pub const LIST: &str = "/events/";

/// The error of an invalid day.
pub const DAY: &str = "must be a day such as 2027-03-14";

/// Maximum number of characters in a search.
const LONGEST: usize = 200;

/// A page request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageQuery {
    pub search: String,
    /// Slug of a category.
    pub category: String,
    /// Slug of a tag.
    pub tag: String,
    /// A day or a week, instead of all events from now on.
    pub period: Option<Period>,
    /// Whether a URL of the recorded system asks for a month.
    pub is_month: bool,
    /// Page number from 1; 0 if the parameter is invalid.
    pub page: i64,
    /// Slug of an event, in a URL of the recorded system.
    pub event: String,
    /// Id of an event, in a URL of the recorded system.
    pub post: Option<i64>,
    /// Whether the calendar file is requested.
    pub as_calendar: bool,
    /// Whether the calendar file is for Outlook.
    pub outlook: bool,
    /// The appearance of an embedded page.
    pub embed: EmbedQuery,
    /// The language that links name; `None` for the default language of the site.
    pub language: Option<Language>,
}

impl PageQuery {
    /// Decodes a query. Empty values count as absent.
    ///
    /// # Errors
    /// The day is invalid, or the search text is too long.
    pub fn read(params: &Params) -> Result<PageQuery, ParameterErrors> {
        let text = |name: &str| params.text(name).unwrap_or_default().trim().to_owned();
        // The first name is our own, the second is that of the recorded system.
        let either = |names: [&str; 2]| match text(names[0]) {
            own if own.is_empty() => text(names[1]),
            own => own,
        };
        let is_on = |name: &str| params.text(name) == Some("1");
        let day = either(["date", "tribe-bar-date"]);
        let period = Period::parse_day(&day);
        if !day.is_empty() && period.is_none() {
            return Err(ParameterErrors::one("date", DAY));
        }
        let search = either(["search", "tribe-bar-search"]);
        if search.chars().count() > LONGEST {
            return Err(ParameterErrors::one("search", "must have at most 200 characters"));
        }
        let page = either(["page", "paged"]);
        let outlook = is_on("outlook-ical");
        let embed = EmbedQuery::read(params)?;
        Ok(PageQuery {
            search,
            category: either(["category", "tribe_events_cat"]),
            tag: text("tag"),
            period,
            is_month: text("eventDisplay") == "month",
            event: text("tribe_events"),
            post: text("p").parse().ok(),
            page: if page.is_empty() { 1 } else { number(&page) },
            as_calendar: is_on("ical") || outlook,
            outlook,
            embed,
            language: None,
        })
    }

    /// Returns whether the query has search words, a category or a tag.
    pub fn is_narrowed(&self) -> bool {
        [&self.search, &self.category, &self.tag].iter().any(|text| !text.is_empty())
    }

    /// Returns the path of the page relative to the base URL.
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

    /// Returns the parameters of the API list: current and upcoming events, or those of the period.
    pub fn list(&self) -> Vec<(&'static str, String)> {
        let mut pairs = match self.period {
            Some(period) => within(period.first(), period.last()),
            None => vec![("ends_after", "now".to_owned()), ("strict_dates", "true".to_owned())],
        };
        pairs.extend(self.filters());
        pairs
    }

    /// Returns the parameters of the API list for search words, category and tag.
    pub fn filters(&self) -> Vec<(&'static str, String)> {
        let texts = [("search", &self.search), ("categories", &self.category), ("tags", &self.tag)];
        let given = texts.into_iter().filter(|(_, text)| !text.is_empty());
        given.map(|(name, text)| (name, text.clone())).collect()
    }

    /// Returns the parameters of the API list for a calendar file: events that end after a day, or
    /// those of the period.
    pub fn subscription(&self, since: Date) -> Vec<(&'static str, String)> {
        let mut pairs = self.list();
        if self.period.is_none() {
            pairs.retain(|(name, _)| !matches!(*name, "ends_after" | "strict_dates"));
            pairs.push(("ends_after", since.to_string()));
        }
        pairs
    }

    /// Returns the URL of another page of the list, with this query.
    pub fn href(&self, path: &str, page: i64) -> String {
        let mut pairs = self.narrowing();
        pairs.extend(self.language.map(|language| ("lang", language.code().to_owned())));
        pairs.extend((page > 1).then(|| ("page", page.to_string())));
        address(path, &pairs)
    }

    /// Returns the URL of the calendar file with the same events.
    pub fn calendar(&self, path: &str) -> String {
        let mut pairs = self.narrowing();
        pairs.push(("ical", "1".to_owned()));
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

/// Parses a page number; 0 if it is invalid.
fn number(text: &str) -> i64 {
    text.parse().ok().filter(|page| *page <= LARGEST_INTEGER).unwrap_or(0)
}

/// Returns the list parameters for the events from one day to another.
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
