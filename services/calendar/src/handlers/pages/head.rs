//! Page metadata.

use shell::pages::Page;

/// Media type of calendar files.
const CALENDAR: &str = "text/calendar";

/// Media type of Atom feeds.
const ATOM: &str = "application/atom+xml";

#[derive(Default)]
pub struct Head {
    pub title: String,
    pub description: String,
    /// The navigation link to highlight, or an empty string.
    pub current: &'static str,
    /// The path of the page, relative to the base URL.
    pub path: String,
    /// Path and query of the page's calendar file. Empty if it doesn't have one.
    pub calendar: String,
    /// URL of an image, or an empty string.
    pub image: String,
    /// JSON-LD for the page, or an empty string.
    pub data: String,
    /// Other hosts that serve images on the page.
    pub origins: Vec<String>,
    /// Whether to ask search engines not to index the page.
    pub unindexed: bool,
    /// Whether this page shows a single item and not a list.
    pub single: bool,
}

/// Values that don't come from the page itself, such as the site name.
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
