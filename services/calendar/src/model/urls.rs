//! The addresses of the site, as answers, pages and feeds write them.

use super::image::Image;
use super::linked::Kind;
use super::term::Taxonomy;

/// The path of the interface.
pub const NAMESPACE: &str = "calendar/events/v1";

/// The path under which existing clients know it.
pub const ALIAS: &str = "wp-json/tribe/events/v1";

/// The namespace by which the alias calls itself.
pub const ALIAS_NAMESPACE: &str = "tribe/events/v1";

/// Base URL and prefix of the request being answered.
#[derive(Clone, Debug)]
pub struct Urls {
    /// URL of the site without a final slash.
    pub base: String,
    /// Whether the request came by the alias.
    pub alias: bool,
}

impl Urls {
    /// Returns the namespace as the request knows it.
    pub fn namespace(&self) -> &'static str {
        if self.alias { ALIAS_NAMESPACE } else { NAMESPACE }
    }

    /// Returns the root of the interface.
    pub fn root(&self) -> String {
        format!("{}/{}", self.base, if self.alias { ALIAS } else { NAMESPACE })
    }

    /// Returns the address of a collection.
    pub fn collection(&self, name: &str) -> String {
        format!("{}/{name}", self.root())
    }

    /// Returns the address of an item of a collection.
    pub fn item(&self, collection: &str, id: i64) -> String {
        format!("{}/{collection}/{id}", self.root())
    }

    /// Returns the same addresses without scheme and host, for links within the site.
    pub fn relative(&self) -> Urls {
        let (_, rest) = self.base.split_once("://").unwrap_or_default();
        let path = rest.split_once('/').map(|(_, path)| format!("/{path}"));
        Urls { base: path.unwrap_or_default(), alias: self.alias }
    }

    /// Returns the page of all events to come.
    pub fn list_page(&self) -> String {
        format!("{}/events/", self.base)
    }

    /// Returns the page of a month, written as `2027-03`.
    pub fn month_page(&self, month: &str) -> String {
        format!("{}/events/month/{month}/", self.base)
    }

    /// Returns the page of an event.
    pub fn event_page(&self, slug: &str) -> String {
        format!("{}/event/{slug}/", self.base)
    }

    /// Returns the page of a venue or an organizer.
    pub fn linked_page(&self, kind: Kind, slug: &str) -> String {
        format!("{}/{}/{slug}/", self.base, kind.word())
    }

    /// Returns the page of a term; `path` holds the slugs from the root down to the term.
    pub fn term_page(&self, taxonomy: Taxonomy, path: &[&str]) -> String {
        match taxonomy {
            Taxonomy::Category => format!("{}/events/category/{}/", self.base, path.join("/")),
            Taxonomy::Tag => format!("{}/tag/{}/", self.base, path.last().unwrap_or(&"")),
        }
    }

    /// Returns the address of a stored image.
    pub fn media(&self, id: i64, file: &str) -> String {
        format!("{}/media/{id}/{file}", self.base)
    }

    /// Returns the address of an image: on this site if its file is stored, else the original one.
    pub fn image(&self, image: &Image) -> String {
        match &image.file {
            Some(file) => self.media(image.id, file),
            None => image.url.clone(),
        }
    }

    /// Returns the id of the image that an address of this site shows.
    pub fn media_id(&self, address: &str) -> Option<i64> {
        let rest = address.strip_prefix(&self.base)?.strip_prefix("/media/")?;
        rest.split_once('/')?.0.parse().ok()
    }

    /// Returns the host of the site.
    pub fn host(&self) -> &str {
        self.base.split_once("://").map_or(self.base.as_str(), |(_, host)| host)
    }

    /// Returns the id that is unique beyond this site.
    pub fn global_id(&self, id: i64) -> String {
        format!("{}?id={id}", self.host())
    }
}
