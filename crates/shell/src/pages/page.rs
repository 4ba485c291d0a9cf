//! Page properties.

/// A feed or calendar that clients can discover on the page.
#[derive(Clone, Copy)]
pub(super) struct Feed<'a> {
    pub(super) media_type: &'a str,
    pub(super) title: &'a str,
    pub(super) href: &'a str,
}

/// The content's publisher, if it isn't the service itself.
#[derive(Clone, Copy)]
pub(super) struct Publisher<'a> {
    pub(super) name: &'a str,
    pub(super) about: &'a str,
}

/// The words in a page's frame.
#[derive(Clone, Copy)]
pub struct FrameWords<'a> {
    /// The link that skips the navigation.
    pub skip: &'a str,
    /// The navigation's name, for screen readers.
    pub navigation: &'a str,
    /// The navigation links, in order; the last one leads to the documentation.
    pub links: &'a [&'a str],
    /// The HTML of the line that links to documents for programs.
    pub programs: &'a str,
    /// The name of the group of links to other languages, for screen readers.
    pub languages: &'a str,
}

/// A page in one of its site's languages.
#[derive(Clone, Copy)]
pub struct Translation<'a> {
    /// The language code.
    pub language: &'a str,
    /// The language's name in the language itself.
    pub name: &'a str,
    /// The page's URL.
    pub url: &'a str,
}

/// How a page is shown in frames of other sites.
#[derive(Clone, Copy)]
pub(super) struct Embedding<'a> {
    pub(super) style: &'static str,
    pub(super) class: &'a str,
    pub(super) ancestors: &'a str,
}

/// The frame around a page's content.
///
/// Every `href` is relative to the site's root and doesn't start with a slash.
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
    /// Its links start with `/`. Set [`Page::root`] if a proxy serves the site below a path.
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

    /// Creates the page at the site's root. Its links are relative, so they work below any path.
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

    /// Sets the words in the frame. The default is English.
    pub fn words(self, words: FrameWords<'a>) -> Self {
        Self { words: Some(words), ..self }
    }

    /// Links to the page in the site's languages, with the default language first.
    pub fn translations(self, translations: Vec<Translation<'a>>) -> Self {
        Self { translations, ..self }
    }

    /// Appends a query to the navigation links, such as `?lang=de`.
    pub fn query(self, query: &'a str) -> Self {
        Self { query, ..self }
    }

    /// Sets the site's path, with a trailing slash.
    pub fn root(self, root: &'a str) -> Self {
        Self { root, ..self }
    }

    /// Marks the navigation link that leads to this page.
    pub fn current(self, href: &'a str) -> Self {
        Self { current: Some(href), ..self }
    }

    /// Uses the full width of the window, for wide tables.
    pub fn wide(self) -> Self {
        Self { wide: true, ..self }
    }

    /// Runs one of the site's scripts once the document is parsed.
    pub fn script(mut self, name: &'static str) -> Self {
        self.scripts.push(name);
        self
    }

    /// Adds a feed or calendar with the same content.
    pub fn feed(mut self, media_type: &'a str, title: &'a str, href: &'a str) -> Self {
        self.feeds.push(Feed { media_type, title, href });
        self
    }

    /// Shows a publisher's name and description instead of the service's.
    pub fn publisher(self, name: &'a str, about: &'a str) -> Self {
        Self { publisher: Some(Publisher { name, about }), ..self }
    }

    /// Sets the content's canonical URL.
    pub fn canonical(self, url: &'a str) -> Self {
        Self { canonical: Some(url), ..self }
    }

    /// Shows only the content, for use in frames on the sites in `ancestors`, which are
    /// `frame-ancestors` sources. The page uses only this style sheet from the site and has this
    /// class on its root element. Links open in a new tab.
    pub fn embedded(self, style: &'static str, class: &'a str, ancestors: &'a str) -> Self {
        Self { embedding: Some(Embedding { style, class, ancestors }), ..self }
    }

    /// Excludes the page from search engines.
    pub fn unindexed(self) -> Self {
        Self { unindexed: true, ..self }
    }

    /// Adds an Open Graph property, such as `og:title`, unless the content is empty.
    pub fn property(mut self, name: &'a str, content: &'a str) -> Self {
        if !content.is_empty() {
            self.properties.push((name, content));
        }
        self
    }

    /// Adds JSON-LD, with every `<` escaped. The content security policy allows it because browsers
    /// don't execute it.
    pub fn linked_data(self, json: &'a str) -> Self {
        Self { linked_data: Some(json), ..self }
    }

    /// Lets the page show images from another origin, such as `https://images.example`.
    pub fn images_from(mut self, origin: &'a str) -> Self {
        self.image_origins.push(origin);
        self
    }
}
