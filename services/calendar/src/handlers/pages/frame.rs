//! The page layout, in the page language.

use actix_web::HttpRequest;
use shell::pages::{FrameWords, Page, Translation};

use crate::config::Settings;
use crate::model::language::Language;
use crate::model::urls::Urls;

/// The query parameter that selects a language.
const PARAMETER: &str = "lang";

/// The layout around a page, i.e. its header and footer, in the page language.
pub struct Frame {
    pub language: Language,
    /// Root path of the site, with a trailing slash.
    pub root: String,
    /// The query string for links to other pages, e.g. `?lang=de`. May be empty.
    pub query: String,
    links: [&'static str; 4],
    /// The HTML for the footer's line of links to machine-readable documents.
    programs: String,
}

impl Frame {
    /// Builds the layout for pages below the base URL in `urls`.
    pub fn new(urls: &Urls, language: Language) -> Frame {
        let (words, root) = (language.words(), format!("{}/", urls.relative().base));
        let link = |path: &str, text: &str| format!("<a href=\"{root}{path}\">{text}</a>");
        let documents = [link("docs/", words.documentation), link("openapi.json", words.openapi)];
        let list = language.list(&documents.each_ref().map(String::as_str));
        Frame {
            language,
            query: urls.page_query(),
            links: [words.events, words.week, words.month, words.api],
            programs: (words.for_programs)(&list),
            root,
        }
    }

    /// Wraps a page in the layout.
    pub fn around<'a>(&'a self, page: Page<'a>) -> Page<'a> {
        let words = self.language.words();
        page.language(self.language.code())
            .right_to_left(self.language.is_right_to_left())
            .root(&self.root)
            .query(&self.query)
            .words(FrameWords {
                skip: words.skip,
                navigation: words.navigation,
                links: &self.links,
                programs: &self.programs,
                languages: words.languages,
            })
    }
}

/// Returns the language requested in the query, if the site offers it. `None` means the default
/// language.
pub fn selected(request: &HttpRequest, settings: &Settings) -> Option<Language> {
    let pairs = url::form_urlencoded::parse(request.query_string().as_bytes());
    let (_, code) = pairs.filter(|(name, _)| name == PARAMETER).last()?;
    let language = Language::lookup(&code, &settings.languages())?;
    (language != settings.site_locale).then_some(language)
}

/// Adds the language parameter to a page path.
pub fn in_language(path: &str, language: Option<Language>) -> String {
    let mark = if path.contains('?') { '&' } else { '?' };
    match language {
        Some(language) => format!("{path}{mark}{PARAMETER}={}", language.code()),
        None => path.to_owned(),
    }
}

/// Returns a page's URLs in all languages of the site, or nothing if there is only one language.
pub fn addresses(base: &str, path: &str, settings: &Settings) -> Vec<(Language, String)> {
    let languages = settings.languages();
    let offered = if languages.len() > 1 { languages.as_slice() } else { &[] };
    let address = |one: &Language| {
        let parameter = (*one != settings.site_locale).then_some(*one);
        (*one, format!("{base}{}", in_language(path, parameter)))
    };
    offered.iter().map(address).collect()
}

/// Returns links to a page's translations.
pub fn translations(addresses: &[(Language, String)]) -> Vec<Translation<'_>> {
    let links = addresses.iter();
    links.map(|(one, url)| Translation { language: one.code(), name: one.name(), url }).collect()
}
