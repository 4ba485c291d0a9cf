//! An imported event's fields other than its times.

use url::Url;

use super::component::Component;
use super::ignored::Warning;
use super::property::Property;
use crate::model::html;
use crate::model::image::{image_url, web_url};
use crate::model::subscription_parts::Part;

/// Maximum length of a title, name or address in characters, after escaping.
const MAX_CHARACTERS: usize = 1000;

/// Maximum number of categories.
const MAX_CATEGORIES: usize = 50;

/// The title of an event without one.
const UNTITLED: &str = "Untitled";

/// If a description contains any of these tags, we treat it as HTML. Google exports HTML
/// descriptions.
const TAGS: [&str; 14] = [
    "<br", "<p>", "<p ", "</p>", "<a href", "<b>", "<i>", "<u>", "<strong>", "<em>", "<ul>",
    "<ol>", "<div", "<span",
];

/// The fields shared by all occurrences.
#[derive(Clone, Debug, Default)]
pub struct Details {
    /// Plain text on one line.
    pub title: String,
    /// Plain text.
    pub description: String,
    /// The description as HTML.
    pub markup: String,
    /// Plain text on one line.
    pub location: String,
    /// Latitude and longitude in degrees.
    pub geo: Option<(f64, f64)>,
    /// Distinct categories, sorted.
    pub categories: Vec<String>,
    /// The organizer's name and email address.
    pub organizer: Option<(String, String)>,
    /// An `http` or `https` URL.
    pub url: Option<String>,
    /// Image URL on a public host.
    pub image: Option<String>,
    pub is_private: bool,
    /// Whether the event is postponed. This is only recognised in files written by this software,
    /// which exports postponed events as tentative.
    pub is_postponed: bool,
}

impl Details {
    /// Reads an event's details. Unusable values become warnings.
    pub fn read(component: &Component, warnings: &mut Vec<Warning>) -> Details {
        let find = |name: &str| component.find(name);
        let text = |name: &str| find(name).map(Property::text).unwrap_or_default();
        let title = one_line(&text("SUMMARY"));
        let markup = markup(&text("DESCRIPTION").replace('\r', ""));
        let location = location(&text("LOCATION"));
        let mut warn = |name: &str, is_unused: bool, message: &str| {
            if let Some(property) = find(name).filter(|one| is_unused && !one.value.is_empty()) {
                warnings.push(Warning::about(property, format!("{name} {message}")));
            }
        };
        let shortened = format!("has more than {MAX_CHARACTERS} characters and was shortened");
        warn("SUMMARY", is_shortened(&text("SUMMARY"), &title), &shortened);
        warn("LOCATION", is_shortened(&text("LOCATION"), &location), &shortened);
        let geo = find("GEO").and_then(|geo| point(&geo.value));
        warn("GEO", geo.is_none(), "is not a latitude and a longitude; it was ignored");
        let organizer = find("ORGANIZER").and_then(organizer);
        warn(
            "ORGANIZER",
            organizer.is_none(),
            "does not have a name or email address; it was ignored",
        );
        let url = find("URL").and_then(|url| address(url.value.trim()));
        warn("URL", url.is_none(), "is not a web address; it was ignored");
        let is_one_of = |name: &str, values: &[&str]| {
            let value = find(name).map(|one| one.value.trim().to_ascii_uppercase());
            value.is_some_and(|value| values.contains(&value.as_str()))
        };
        let is_tentative = is_one_of("STATUS", &["TENTATIVE"]);
        warn("STATUS", is_tentative && !component.is_own, "TENTATIVE is ignored");
        Details {
            title: if title.is_empty() { UNTITLED.to_owned() } else { title },
            description: html::text(&markup),
            markup,
            location,
            geo,
            categories: categories(component, warnings),
            organizer,
            url,
            image: image(component, warnings),
            // Unknown classes are treated as private (RFC 5545, 3.8.1.3).
            is_private: component.all("CLASS").any(|one| {
                let class = one.value.trim();
                !class.is_empty() && !class.eq_ignore_ascii_case("PUBLIC")
            }),
            is_postponed: is_tentative && component.is_own,
        }
    }

    /// Returns whether the file has a value for `part`. A cancellation only changes these parts,
    /// because it can omit all others. It can make an event private, but not public.
    pub fn has(&self, part: Part) -> bool {
        match part {
            Part::Title => self.title != UNTITLED,
            Part::Description => !self.description.is_empty(),
            Part::Website => self.url.is_some(),
            Part::Venue => !self.location.is_empty(),
            Part::Organizer => self.organizer.is_some(),
            Part::Categories => !self.categories.is_empty(),
            Part::Status => self.is_private,
            Part::Dates | Part::EventStatus => true,
        }
    }

    /// Returns the organizer's name, or an empty string.
    pub fn organizer_name(&self) -> &str {
        self.organizer.as_ref().map_or("", |(name, _)| name)
    }
}

/// Joins all lines into one and truncates the result to the maximum length after escaping.
fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut room = MAX_CHARACTERS;
    let fits = |c: &char| {
        let escaped = html::escape(&c.to_string()).chars().count();
        room = room.saturating_sub(escaped);
        room > 0
    };
    let line: String = line.chars().filter(|c| !c.is_control()).take_while(fits).collect();
    line.trim_end().to_owned()
}

/// Returns whether [`one_line`] dropped the end of `text`.
fn is_shortened(text: &str, line: &str) -> bool {
    text.chars().filter(|c| !c.is_whitespace() && !c.is_control() && *c != ',').count()
        > line.chars().filter(|c| !c.is_whitespace() && *c != ',').count()
}

/// Joins the lines of a postal address. Apple splits addresses across several lines.
fn location(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    one_line(&lines.collect::<Vec<_>>().join(", "))
}

fn markup(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    match TAGS.iter().any(|tag| lower.contains(tag)) {
        true => text.to_owned(),
        // Our own exports contain text in this form.
        false => html::escape(&html::text(&html::escape(text))),
    }
}

fn categories(component: &Component, warnings: &mut Vec<Warning>) -> Vec<String> {
    let named = component.properties.iter().filter(|one| one.name == "CATEGORIES");
    let names = named.flat_map(Property::texts).map(|name| one_line(&name));
    let mut names: Vec<String> = names.filter(|name| !name.is_empty()).collect();
    names.sort_unstable();
    names.dedup();
    if names.len() > MAX_CATEGORIES
        && let Some(property) = component.find("CATEGORIES")
    {
        let message = format!("only {MAX_CATEGORIES} of {} categories were imported", names.len());
        warnings.push(Warning::about(property, message));
    }
    names.truncate(MAX_CATEGORIES);
    names
}

/// Parses an organizer's name and email address. If there is no name, the address is used as the
/// name. Returns `None` if both are missing.
fn organizer(property: &Property) -> Option<(String, String)> {
    let value = property.value.trim();
    let mail = match value.split_at_checked(7) {
        Some((scheme, mail)) if scheme.eq_ignore_ascii_case("mailto:") => one_line(mail),
        _ => String::new(),
    };
    // Our exporter can't write double quotes in names.
    let name = one_line(&property.parameter("CN").unwrap_or_default().replace('"', "'"));
    let name = if name.is_empty() { mail.clone() } else { name };
    (!name.is_empty()).then_some((name, mail))
}

fn point(text: &str) -> Option<(f64, f64)> {
    let (lat, lng) = text.trim().split_once(';')?;
    let within = |text: &str, most: f64| {
        text.trim().parse::<f64>().ok().filter(|degrees| degrees.abs() <= most)
    };
    Some((within(lat, 90.0)?, within(lng, 180.0)?))
}

fn address(text: &str) -> Option<String> {
    let fits = text.chars().count() < MAX_CHARACTERS && !text.chars().any(char::is_control);
    let url: Url = web_url(text).filter(|_| fits)?;
    Some(url.into())
}

/// Returns the URL of the first attached image, if any. Every other attachment becomes a warning.
fn image(component: &Component, warnings: &mut Vec<Warning>) -> Option<String> {
    let mut found = None;
    for one in &component.properties {
        let is_image = match one.name.as_str() {
            "IMAGE" => true,
            "ATTACH" => one.parameter("FMTTYPE").is_some_and(|kind| kind.starts_with("image/")),
            _ => continue,
        };
        let url = address(one.value.trim()).filter(|url| is_image && image_url(url).is_some());
        match url {
            Some(url) if found.is_none() => found = Some(url),
            Some(_) => warnings
                .push(Warning::about(one, "an event can only have one image; it was ignored")),
            None => {
                let message = format!("{} is not the URL of an image; it was ignored", one.name);
                warnings.push(Warning::about(one, message));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::reader::Reader;
    use super::*;

    fn read(lines: &str) -> Details {
        let file = format!("BEGIN:VEVENT\n{lines}\nEND:VEVENT\n");
        let component = Reader::new(file.as_bytes()).next_component().unwrap().unwrap();
        Details::read(&component, &mut Vec::new())
    }

    #[test]
    fn details_of_common_programs_are_read() {
        let details = read(
            "SUMMARY:  R & B\\, live \nDESCRIPTION:Tom & <Ann>\\n\\n\\nDoors at 7\nLOCATION:Hall\\nMain St 1\\, Wien\n\
             CATEGORIES:b,a\nCATEGORIES:a\nGEO:48.2;16.37\nCLASS:private\n\
             ORGANIZER;CN=\"Ann; A\":MAILTO:ann@example.org\nURL:https://example.org/a b\n\
             ATTACH;FMTTYPE=text/plain:https://example.org/a.txt\nATTACH;FMTTYPE=image/png:https://example.org/a.png",
        );
        assert_eq!(details.title, "R & B, live");
        assert_eq!(details.description, "Tom & <Ann>\n\nDoors at 7");
        assert_eq!(details.markup, "Tom &amp; &lt;Ann&gt;\n\nDoors at 7");
        assert_eq!(details.location, "Hall, Main St 1, Wien");
        assert_eq!(details.categories, ["a", "b"]);
        assert_eq!((details.geo, details.is_private), (Some((48.2, 16.37)), true));
        assert_eq!(details.organizer, Some(("Ann; A".to_owned(), "ann@example.org".to_owned())));
        assert_eq!(details.url.as_deref(), Some("https://example.org/a%20b"));
        assert_eq!(details.image.as_deref(), Some("https://example.org/a.png"));
    }

    #[test]
    fn every_class_but_public_is_private() {
        for class in ["PRIVATE", "confidential", "X-SECRET", "\"PRIVATE\"", "PUBLIC\nCLASS:PRIVATE"]
        {
            assert!(read(&format!("CLASS:{class}")).is_private, "{class}");
        }
        for class in ["PUBLIC", " public ", ""] {
            assert!(!read(&format!("CLASS:{class}")).is_private, "{class}");
        }
    }

    #[test]
    fn google_html_is_kept_and_plain_text_escaped() {
        let details = read("DESCRIPTION:<p>Hi <b>you</b></p>\nURL:javascript:alert(1)\nGEO:91;0");
        assert_eq!(details.title, "Untitled");
        assert_eq!(
            (details.markup.as_str(), details.description.as_str()),
            ("<p>Hi <b>you</b></p>", "Hi you")
        );
        assert_eq!((details.url, details.geo, details.organizer), (None, None, None));
        let long = read(&format!("SUMMARY:{}", "&".repeat(2000)));
        assert!(html::escape(&long.title).chars().count() <= MAX_CHARACTERS);
    }
}
