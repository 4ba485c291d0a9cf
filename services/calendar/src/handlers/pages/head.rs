//! Page metadata.

use shell::pages::Page;

/// Media type of iCalendar files.
const CALENDAR: &str = "text/calendar";

/// Media type of Atom feeds.
const ATOM: &str = "application/atom+xml";

#[derive(Default)]
pub struct Head {
    pub title: String,
    pub description: String,
    /// The navigation link to highlight. May be empty.
    pub current: &'static str,
    /// Path of the page, relative to the base URL.
    pub path: String,
    /// Path and query of the page's iCalendar file. Empty if there isn't one.
    pub calendar: String,
    /// URL of the page's image. May be empty.
    pub image: String,
    /// JSON-LD for the page. May be empty.
    pub data: String,
    /// Origins of externally hosted images on the page.
    pub origins: Vec<String>,
    /// Whether to ask search engines not to index the page.
    pub unindexed: bool,
    /// Whether the page is about a single item rather than a list.
    pub single: bool,
}

/// Metadata that doesn't come from the page itself, e.g. the site name.
pub struct Around<'a> {
    pub name: &'a str,
    pub about: &'a str,
    pub canonical: &'a str,
    /// Absolute URL of the page's image.
    pub image: &'a str,
    /// Path and query of the Atom feed, relative to the site root.
    pub atom: &'a str,
}

impl Head {
    pub fn page<'a>(&'a self, around: &Around<'a>) -> Page<'a> {
        let kind = if self.single { "article" } else { "website" };
        let mut page = Page::new(&self.title)
            .publisher(around.name, around.about)
            .wide()
            .canonical(around.canonical)
            .description(&self.description)
            .property("og:type", kind)
            .property("og:title", &self.title)
            .property("og:site_name", around.name)
            .property("og:url", around.canonical)
            .property("og:description", &self.description)
            .property("og:image", around.image)
            .feed(CALENDAR, around.name, "events/?ical=1")
            .feed(ATOM, around.name, around.atom);
        if !self.current.is_empty() {
            page = page.current(self.current);
        }
        if !self.calendar.is_empty() {
            page = page.feed(CALENDAR, &self.title, self.calendar.trim_start_matches('/'));
        }
        if !self.data.is_empty() {
            page = page.linked_data(&self.data);
        }
        if self.unindexed {
            page = page.unindexed();
        }
        self.origins.iter().fold(page, |page, origin| page.images_from(origin))
    }
}
