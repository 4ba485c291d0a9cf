//! The names and values of a request's parameters.

use std::borrow::Cow;

use actix_web::HttpRequest;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use super::rules::{Names, Repeated, Rules};
use crate::Violation;

/// The parameters of a request, in the order sent. They can come from the query, path, form or JSON
/// body.
///
/// Values are only copied if they have to be decoded.
#[derive(Clone, Debug, Default)]
pub struct Input<'a> {
    entries: Vec<(Cow<'a, str>, Given<'a>)>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Given<'a> {
    Text(Cow<'a, str>),
    /// The raw value, which doesn't decode to valid UTF-8.
    Undecodable(&'a str),
    Json(&'a Value),
}

impl<'a> Input<'a> {
    /// Decodes a query or form, including `%XX` and `+` for spaces.
    ///
    /// A parameter whose name isn't valid UTF-8 is kept without a name.
    ///
    /// ```
    /// use shell::params::{Input, Rules};
    ///
    /// let input = Input::query("a=1+2&b=%C3%BC&b=x&c");
    /// assert_eq!(input.text("a", &Rules::PLAIN), Some("1 2"));
    /// assert_eq!(input.text("b", &Rules::PLAIN), Some("ü"));
    /// assert_eq!(input.text("c", &Rules::PLAIN), Some(""));
    /// ```
    pub fn query(query: &'a str) -> Self {
        let mut input = Self::default();
        for part in query.split('&').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let given = decode(value).map_or(Given::Undecodable(value), Given::Text);
            match decode(name) {
                Some(name) => input.entries.push((name, given)),
                None => input.entries.push((Cow::Borrowed(""), Given::Undecodable(part))),
            }
        }
        input
    }

    /// Decodes the variable segments of a routed path.
    ///
    /// ```
    /// use actix_web::test::TestRequest;
    /// use shell::params::{Input, Rules};
    ///
    /// let request = TestRequest::default().param("name", "a%2Fb").to_http_request();
    /// assert_eq!(Input::path(&request).text("name", &Rules::PLAIN), Some("a/b"));
    /// ```
    pub fn path(request: &'a HttpRequest) -> Self {
        let entries = request.match_info().iter().map(|(name, value)| {
            let text = percent_decode_str(value).decode_utf8().ok();
            (Cow::Borrowed(name), text.map_or(Given::Undecodable(value), Given::Text))
        });
        Self { entries: entries.collect() }
    }

    /// Uses the members of a JSON object. A `null` member counts as missing.
    ///
    /// ```
    /// use serde_json::json;
    /// use shell::params::{Input, Rules};
    ///
    /// let body = json!({"title": "Concert", "venue": null});
    /// let input = Input::object(body.as_object().unwrap());
    /// assert_eq!(input.text("title", &Rules::PLAIN), Some("Concert"));
    /// ```
    pub fn object(members: &'a Map<String, Value>) -> Self {
        Self::members(members.iter())
    }

    /// Uses pairs of names and JSON values. Names can be repeated.
    ///
    /// ```
    /// use serde_json::json;
    /// use shell::params::{Input, Repeated, Rules};
    ///
    /// let members = [("a".to_owned(), json!("1")), ("a".to_owned(), json!("2"))];
    /// let input = Input::members(members.iter().map(|(name, value)| (name, value)));
    /// let rules = Rules { repeated: Repeated::Last, ..Rules::PLAIN };
    /// assert_eq!(input.text("a", &rules), Some("2"));
    /// ```
    pub fn members(members: impl IntoIterator<Item = (&'a String, &'a Value)>) -> Self {
        let entry = |(name, value): (&'a String, &'a Value)| {
            let given = match value {
                Value::String(text) => Given::Text(Cow::Borrowed(text.as_str())),
                other => Given::Json(other),
            };
            (Cow::Borrowed(name.as_str()), given)
        };
        Self { entries: members.into_iter().map(entry).collect() }
    }

    /// Adds a text parameter, such as a variable path segment.
    ///
    /// ```
    /// use shell::params::{Input, Rules};
    ///
    /// let input = Input::query("a=1").with("code", "DE");
    /// assert_eq!(input.text("code", &Rules::PLAIN), Some("DE"));
    /// ```
    #[must_use]
    pub fn with(mut self, name: &'a str, text: &'a str) -> Self {
        self.entries.push((Cow::Borrowed(name), Given::Text(Cow::Borrowed(text))));
        self
    }

    /// Appends the parameters of another input.
    ///
    /// ```
    /// use shell::params::{Input, Rules};
    ///
    /// let input = Input::default().with("id", "7").and(Input::query("id=8&page=2"));
    /// assert_eq!(input.text("id", &Rules::PLAIN), Some("7"));
    /// assert_eq!(input.text("page", &Rules::PLAIN), Some("2"));
    /// ```
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.entries.extend(other.entries);
        self
    }

    /// Returns the text of a parameter, subject to the rules for names and repetition.
    ///
    /// Use this for parameters that don't belong to an operation, such as API keys. Operations use
    /// [`read`](super::read).
    ///
    /// ```
    /// use shell::params::{Input, Names, Rules};
    ///
    /// let rules = Rules { names: Names::IgnoringCase, ..Rules::PLAIN };
    /// assert_eq!(Input::query("Mode=ntlm").text("mode", &rules), Some("ntlm"));
    /// ```
    pub fn text(&self, name: &str, rules: &Rules) -> Option<&str> {
        match self.find(name, rules)? {
            Given::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns all names with their values in the order sent, leaving out values that aren't
    /// strings.
    ///
    /// ```
    /// use shell::params::Input;
    ///
    /// let input = Input::query("a=1&b=%FF&a=2");
    /// assert_eq!(input.texts().collect::<Vec<_>>(), [("a", "1"), ("a", "2")]);
    /// ```
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().filter_map(|(name, given)| match given {
            Given::Text(text) => Some((name.as_ref(), text.as_ref())),
            _ => None,
        })
    }

    /// Returns a violation for the first parameter that isn't valid UTF-8.
    ///
    /// ```
    /// use shell::params::Input;
    ///
    /// assert_eq!(Input::query("a=1&b=%FF").undecodable().unwrap().field, "b");
    /// assert!(Input::query("a=1").undecodable().is_none());
    /// ```
    pub fn undecodable(&self) -> Option<Violation> {
        self.entries.iter().find_map(|(name, given)| match given {
            Given::Undecodable(sent) => Some(Violation {
                sent: Some((*sent).into()),
                ..Violation::new(name.as_ref(), "encoding", "the value is not UTF-8 text")
            }),
            _ => None,
        })
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(name, _)| name.as_ref())
    }

    pub(super) fn find(&self, name: &str, rules: &Rules) -> Option<&Given<'a>> {
        let mut named = self.named(name, rules.names);
        match rules.repeated {
            Repeated::First => named.next(),
            Repeated::Last => named.next_back(),
        }
        .map(|(_, given)| given)
    }

    /// Returns the name as the client spelled it. If it is repeated, uses the one whose value
    /// counts.
    pub(super) fn name_sent(&self, name: &str, rules: &Rules) -> Option<&str> {
        let mut named = self.named(name, rules.names);
        match rules.repeated {
            Repeated::First => named.next(),
            Repeated::Last => named.next_back(),
        }
        .map(|(sent, _)| sent)
    }

    pub(super) fn named(
        &self,
        name: &str,
        names: Names,
    ) -> impl DoubleEndedIterator<Item = (&str, &Given<'a>)> {
        self.entries.iter().filter_map(move |(other, given)| {
            names.equal(other, name).then_some((other.as_ref(), given))
        })
    }
}

/// Decodes a name or value of a form. A `%` that isn't followed by two hex digits is kept.
fn decode(text: &str) -> Option<Cow<'_, str>> {
    if text.contains('+') {
        let blanks = text.replace('+', " ");
        return percent_decode_str(&blanks).decode_utf8().ok().map(|text| text.into_owned().into());
    }
    percent_decode_str(text).decode_utf8().ok()
}
