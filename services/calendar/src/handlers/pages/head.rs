//! What a page says of itself to programs.

use shell::pages::Page;

/// The media type of calendars.
const CALENDAR: &str = "text/calendar";

/// The head of a page.
#[derive(Default)]
pub struct Head {
    pub title: String,
    pub description: String,
    /// The link of the navigation that leads here; empty for none.
    pub current: &'static str,
    /// The path of the page, below the base of the site.
    pub path: String,
    /// Path and query of the calendar of this page; empty for none.
    pub calendar: String,
    /// The address of an image; empty for none.
    pub image: String,
    /// JSON-LD; empty for none.
    pub data: String,
    /// Where images of other hosts come from.
    pub origins: Vec<String>,
    /// Search engines leave it out.
    pub unindexed: bool,
    /// It shows one thing, not a list.
    pub single: bool,
}

/// The site around a page.
pub struct Around<'a> {
    pub name: &'a str,
    pub about: &'a str,
    /// Path of the site, with a slash at its end.
    pub root: &'a str,
    pub canonical: &'a str,
    /// The address of the image with scheme and host.
    pub image: &'a str,
}

impl Head {
    /// Puts the page together.
    pub fn page<'a>(&'a self, around: &Around<'a>) -> Page<'a> {
        let kind = if self.single { "article" } else { "website" };
        let mut page = Page::new(&self.title)
            .publisher(around.name, around.about)
            .root(around.root)
            .wide()
            .canonical(around.canonical)
            .description(&self.description)
            .property("og:type", kind)
            .property("og:title", &self.title)
            .property("og:site_name", around.name)
            .property("og:url", around.canonical)
            .property("og:description", &self.description)
            .property("og:image", around.image)
            .feed(CALENDAR, around.name, "events/?ical=1");
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
