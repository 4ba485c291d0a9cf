//! URLs used in responses, pages and feeds.

use super::image::Image;
use super::language::Language;
use super::linked::Kind;
use super::slug::SEPARATOR;
use super::term::Taxonomy;

/// The API path.
pub const NAMESPACE: &str = "calendar/events/v1";

/// An alias of the API path, for existing clients.
pub const ALIAS: &str = "wp-json/tribe/events/v1";

/// The API namespace to report under the alias.
pub const ALIAS_NAMESPACE: &str = "tribe/events/v1";

/// Base URL, path prefix and language for the current request.
#[derive(Clone, Debug, Default)]
pub struct Urls {
    /// The site URL without a trailing slash.
    pub base: String,
    /// Whether the request used the alias.
    pub alias: bool,
    /// The language to include in page links, or `None` for the site's default language.
    pub language: Option<Language>,
}

impl Urls {
    /// Returns the namespace for the API path that the request used.
    pub fn namespace(&self) -> &'static str {
        if self.alias { ALIAS_NAMESPACE } else { NAMESPACE }
    }

    /// Returns the root URL of the API.
    pub fn root(&self) -> String {
        format!("{}/{}", self.base, if self.alias { ALIAS } else { NAMESPACE })
    }

    /// Returns the URL of a collection.
    pub fn collection(&self, name: &str) -> String {
        format!("{}/{name}", self.root())
    }

    /// Returns the URL of an item in a collection.
    pub fn item(&self, collection: &str, id: i64) -> String {
        format!("{}/{collection}/{id}", self.root())
    }

    /// Returns a copy without a scheme and host, for links within the site.
    pub fn relative(&self) -> Urls {
        let (_, rest) = self.base.split_once("://").unwrap_or_default();
        let path = rest.split_once('/').map(|(_, path)| format!("/{path}"));
        Urls { base: path.unwrap_or_default(), alias: self.alias, language: self.language }
    }

    /// Returns a copy that links to pages in the default language.
    pub fn in_default_language(&self) -> Urls {
        Urls { language: None, ..self.clone() }
    }

    /// Returns the query string for page links, such as `?lang=de`. May be empty.
    pub fn page_query(&self) -> String {
        self.language.map_or_else(String::new, |language| format!("?lang={}", language.code()))
    }

    /// Returns the URL of the upcoming events page.
    pub fn list_page(&self) -> String {
        format!("{}/events/{}", self.base, self.page_query())
    }

    /// Returns the URL of a month page, given a month such as `2027-03`.
    pub fn month_page(&self, month: &str) -> String {
        format!("{}/events/month/{month}/{}", self.base, self.page_query())
    }

    /// Returns the URL of an event page. For occurrences, the date is a separate path segment.
    pub fn event_page(&self, slug: &str) -> String {
        let query = self.page_query();
        match slug.rsplit_once(SEPARATOR) {
            Some((name, date)) => format!("{}/event/{name}/{date}/{query}", self.base),
            None => format!("{}/event/{slug}/{query}", self.base),
        }
    }

    /// Returns the URL of a venue or organizer page.
    pub fn linked_page(&self, kind: Kind, slug: &str) -> String {
        format!("{}/{}/{slug}/{}", self.base, kind.word(), self.page_query())
    }

    /// Returns the URL of a term page. `path` contains the slugs from the top level down to the
    /// term.
    pub fn term_page(&self, taxonomy: Taxonomy, path: &[&str]) -> String {
        let (base, query) = (&self.base, self.page_query());
        match taxonomy {
            Taxonomy::Category => format!("{base}/events/category/{}/{query}", path.join("/")),
            Taxonomy::Tag => format!("{base}/tag/{}/{query}", path.last().unwrap_or(&"")),
        }
    }

    /// Returns the URL of a stored image.
    pub fn media(&self, id: i64, file: &str) -> String {
        format!("{}/media/{id}/{file}", self.base)
    }

    /// Returns an image's URL on this site if the file is stored here, or else its original URL.
    pub fn image(&self, image: &Image) -> String {
        match &image.file {
            Some(file) => self.media(image.id, file),
            None => image.url.clone(),
        }
    }

    /// Returns the id of a stored image, given its URL on this site. `None` for other URLs.
    pub fn media_id(&self, address: &str) -> Option<i64> {
        let rest = address.strip_prefix(&self.base)?.strip_prefix("/media/")?;
        rest.split_once('/')?.0.parse().ok()
    }

    /// Returns the site's host.
    pub fn host(&self) -> &str {
        self.base.split_once("://").map_or(self.base.as_str(), |(_, host)| host)
    }

    /// Returns an id that is unique across sites.
    pub fn global_id(&self, id: i64) -> String {
        format!("{}?id={id}", self.host())
    }
}
