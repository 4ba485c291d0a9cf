//! What a page says of itself.

/// A document that readers of feeds and calendars find by the page.
#[derive(Clone, Copy)]
pub(super) struct Feed<'a> {
    pub(super) media_type: &'a str,
    pub(super) title: &'a str,
    pub(super) href: &'a str,
}

/// Who publishes the content, where that is not the service itself.
#[derive(Clone, Copy)]
pub(super) struct Publisher<'a> {
    pub(super) name: &'a str,
    pub(super) about: &'a str,
}

/// The frame of one page.
///
/// Every `href` is relative to the root of the site and has no slash at its beginning.
#[derive(Clone)]
pub struct Page<'a> {
    pub(super) title: &'a str,
    pub(super) description: &'a str,
    pub(super) language: &'a str,
    pub(super) root: &'a str,
    pub(super) current: Option<&'a str>,
    pub(super) wide: bool,
    pub(super) scripts: Vec<&'static str>,
    pub(super) feeds: Vec<Feed<'a>>,
    pub(super) publisher: Option<Publisher<'a>>,
    pub(super) canonical: Option<&'a str>,
    pub(super) unindexed: bool,
    pub(super) properties: Vec<(&'a str, &'a str)>,
    pub(super) linked_data: Option<&'a str>,
    pub(super) image_origins: Vec<&'a str>,
}

impl<'a> Page<'a> {
    /// A page at any path of the site.
    ///
    /// Its links begin with `/`; see [`Page::root`] for a site below another path.
    pub fn new(title: &'a str) -> Self {
        Self {
            title,
            description: "",
            language: "en",
            root: "/",
            current: None,
            wide: false,
            scripts: Vec::new(),
            feeds: Vec::new(),
            publisher: None,
            canonical: None,
            unindexed: false,
            properties: Vec::new(),
            linked_data: None,
            image_origins: Vec::new(),
        }
    }

    /// The page at the root of the site; its links work below any path of a proxy.
    pub fn home(title: &'a str) -> Self {
        Self { root: "./", ..Self::new(title) }
    }

    /// A sentence for search engines and link previews.
    pub fn description(self, description: &'a str) -> Self {
        Self { description, ..self }
    }

    /// The language of the content, `en` unless said otherwise.
    pub fn language(self, language: &'a str) -> Self {
        Self { language, ..self }
    }

    /// The path of the site, with a slash at its end.
    pub fn root(self, root: &'a str) -> Self {
        Self { root, ..self }
    }

    /// The link of the navigation that leads to this page.
    pub fn current(self, href: &'a str) -> Self {
        Self { current: Some(href), ..self }
    }

    /// Gives the content the whole width, for tables.
    pub fn wide(self) -> Self {
        Self { wide: true, ..self }
    }

    /// Runs a script of the site once the document is read.
    pub fn script(mut self, name: &'static str) -> Self {
        self.scripts.push(name);
        self
    }

    /// Names a feed or a calendar with the same content.
    pub fn feed(mut self, media_type: &'a str, title: &'a str, href: &'a str) -> Self {
        self.feeds.push(Feed { media_type, title, href });
        self
    }

    /// Shows the name of who publishes the content, and a sentence about it, in place of those of
    /// the service.
    pub fn publisher(self, name: &'a str, about: &'a str) -> Self {
        Self { publisher: Some(Publisher { name, about }), ..self }
    }

    /// The one address of this content, with scheme and host.
    pub fn canonical(self, url: &'a str) -> Self {
        Self { canonical: Some(url), ..self }
    }

    /// Asks search engines to leave the page out.
    pub fn unindexed(self) -> Self {
        Self { unindexed: true, ..self }
    }

    /// A property of the Open Graph protocol, such as `og:title`; none where the content is empty.
    pub fn property(mut self, name: &'a str, content: &'a str) -> Self {
        if !content.is_empty() {
            self.properties.push((name, content));
        }
        self
    }

    /// What the page is about, as JSON-LD. Browsers do not run it, so that the policy of the page
    /// allows it; a `<` in it is escaped here.
    pub fn linked_data(self, json: &'a str) -> Self {
        Self { linked_data: Some(json), ..self }
    }

    /// Lets the page show images from another origin, such as `https://images.example`.
    pub fn images_from(mut self, origin: &'a str) -> Self {
        self.image_origins.push(origin);
        self
    }
}
