//! The properties of a page.

/// A feed or calendar that the page advertises to clients.
#[derive(Clone, Copy)]
pub(super) struct Feed<'a> {
    pub(super) media_type: &'a str,
    pub(super) title: &'a str,
    pub(super) href: &'a str,
}

/// The publisher of the content, if other than the service itself.
#[derive(Clone, Copy)]
pub(super) struct Publisher<'a> {
    pub(super) name: &'a str,
    pub(super) about: &'a str,
}

/// UI strings of the page layout.
#[derive(Clone, Copy)]
pub struct FrameWords<'a> {
    /// The text of the link that skips the navigation.
    pub skip: &'a str,
    /// The accessible name of the navigation.
    pub navigation: &'a str,
    /// The labels of the navigation links, in order. The last link leads to the API documentation.
    pub links: &'a [&'a str],
    /// The HTML for the line of links to machine-readable documents.
    pub programs: &'a str,
    /// The accessible name of the language links.
    pub languages: &'a str,
}

/// A translation of a page.
#[derive(Clone, Copy)]
pub struct Translation<'a> {
    /// The language code.
    pub language: &'a str,
    /// The language's own name for itself, e.g. `Deutsch`.
    pub name: &'a str,
    /// The URL of the translated page.
    pub url: &'a str,
}

/// How a page looks when embedded in a frame on another site.
#[derive(Clone, Copy)]
pub(super) struct Embedding<'a> {
    pub(super) style: &'static str,
    pub(super) class: &'a str,
    pub(super) ancestors: &'a str,
}

/// The layout around a page's content.
///
/// Every `href` is relative to the site's root and has no leading slash.
#[derive(Clone)]
pub struct Page<'a> {
    pub(super) title: &'a str,
    pub(super) description: &'a str,
    pub(super) language: &'a str,
    pub(super) is_right_to_left: bool,
    pub(super) words: Option<FrameWords<'a>>,
    pub(super) translations: Vec<Translation<'a>>,
    pub(super) query: &'a str,
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
    pub(super) embedding: Option<Embedding<'a>>,
}

impl<'a> Page<'a> {
    /// Creates a page that can be anywhere on the site.
    ///
    /// Links start with `/`, so set [`Page::root`] if a proxy serves the site below a path.
    pub fn new(title: &'a str) -> Self {
        Self {
            title,
            description: "",
            language: "en",
            is_right_to_left: false,
            words: None,
            translations: Vec::new(),
            query: "",
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
            embedding: None,
        }
    }

    /// Creates the home page at the site's root. Its links are relative, so they work below any
    /// path.
    pub fn home(title: &'a str) -> Self {
        Self { root: "./", ..Self::new(title) }
    }

    /// Sets the description for search engines and link previews.
    pub fn description(self, description: &'a str) -> Self {
        Self { description, ..self }
    }

    /// Sets the content's language. The default is `en`.
    pub fn language(self, language: &'a str) -> Self {
        Self { language, ..self }
    }

    /// Sets the text direction.
    pub fn right_to_left(self, is_right_to_left: bool) -> Self {
        Self { is_right_to_left, ..self }
    }

    /// Sets the layout's UI strings. They are in English by default.
    pub fn words(self, words: FrameWords<'a>) -> Self {
        Self { words: Some(words), ..self }
    }

    /// Links to the page's translations. The default language comes first.
    pub fn translations(self, translations: Vec<Translation<'a>>) -> Self {
        Self { translations, ..self }
    }

    /// Appends a query such as `?lang=de` to the navigation links.
    pub fn query(self, query: &'a str) -> Self {
        Self { query, ..self }
    }

    /// Sets the path that the site is served under, with a trailing slash.
    pub fn root(self, root: &'a str) -> Self {
        Self { root, ..self }
    }

    /// Marks the navigation link to `href` as the current page.
    pub fn current(self, href: &'a str) -> Self {
        Self { current: Some(href), ..self }
    }

    /// Uses the full width of the window, for wide tables.
    pub fn wide(self) -> Self {
        Self { wide: true, ..self }
    }

    /// Runs the site's script `name` once the document has been parsed.
    pub fn script(mut self, name: &'static str) -> Self {
        self.scripts.push(name);
        self
    }

    /// Advertises a feed or calendar with the same content as the page.
    pub fn feed(mut self, media_type: &'a str, title: &'a str, href: &'a str) -> Self {
        self.feeds.push(Feed { media_type, title, href });
        self
    }

    /// Shows the publisher's name and description in place of the service's.
    pub fn publisher(self, name: &'a str, about: &'a str) -> Self {
        Self { publisher: Some(Publisher { name, about }), ..self }
    }

    /// Sets the content's canonical URL.
    pub fn canonical(self, url: &'a str) -> Self {
        Self { canonical: Some(url), ..self }
    }

    /// Leaves out the layout so that other sites can show the page in a frame. `ancestors` lists
    /// the permitted sites as `frame-ancestors` sources. The page uses only the site's style sheet
    /// `style`, has `class` on its root element, and opens links in a new tab.
    pub fn embedded(self, style: &'static str, class: &'a str, ancestors: &'a str) -> Self {
        Self { embedding: Some(Embedding { style, class, ancestors }), ..self }
    }

    /// Excludes the page from search engines.
    pub fn unindexed(self) -> Self {
        Self { unindexed: true, ..self }
    }

    /// Adds an Open Graph property such as `og:title`. Does nothing if `content` is empty.
    pub fn property(mut self, name: &'a str, content: &'a str) -> Self {
        if !content.is_empty() {
            self.properties.push((name, content));
        }
        self
    }

    /// Adds JSON-LD, with every `<` escaped. It is allowed by the content security policy since
    /// browsers don't execute it.
    pub fn linked_data(self, json: &'a str) -> Self {
        Self { linked_data: Some(json), ..self }
    }

    /// Allows images from another origin, such as `https://images.example`.
    pub fn images_from(mut self, origin: &'a str) -> Self {
        self.image_origins.push(origin);
        self
    }
}
