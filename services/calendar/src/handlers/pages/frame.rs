//! Page header and footer, in the page's language.

use actix_web::HttpRequest;
use shell::pages::{FrameWords, Page, Translation};

use crate::config::Settings;
use crate::model::language::Language;
use crate::model::urls::Urls;

/// The query parameter that selects a language.
const PARAMETER: &str = "lang";

/// Header and footer of a page, in its language.
pub struct Frame {
    pub language: Language,
    /// The root path of the site, with a trailing slash.
    pub root: String,
    /// The query string for links to other pages. May be empty, or something like `?lang=de`.
    pub query: String,
    links: [&'static str; 4],
    /// The footer line with links to the API documentation, as HTML.
    programs: String,
}

impl Frame {
    /// Builds the frame for pages with these base URLs.
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

    /// Puts the frame around a page.
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

/// Returns the language selected by the query, if the site offers it. Returns `None` for the
/// default language.
pub fn selected(request: &HttpRequest, settings: &Settings) -> Option<Language> {
    let pairs = url::form_urlencoded::parse(request.query_string().as_bytes());
    let (_, code) = pairs.filter(|(name, _)| name == PARAMETER).last()?;
    let language = Language::lookup(&code, &settings.languages())?;
    (language != settings.site_locale).then_some(language)
}

/// Adds the language parameter to a page's path.
pub fn in_language(path: &str, language: Option<Language>) -> String {
    let mark = if path.contains('?') { '&' } else { '?' };
    match language {
        Some(language) => format!("{path}{mark}{PARAMETER}={}", language.code()),
        None => path.to_owned(),
    }
}

/// Returns the URL of a page in each language of the site, or nothing if there is only one.
pub fn addresses(base: &str, path: &str, settings: &Settings) -> Vec<(Language, String)> {
    let languages = settings.languages();
    let offered = if languages.len() > 1 { languages.as_slice() } else { &[] };
    let address = |one: &Language| {
        let parameter = (*one != settings.site_locale).then_some(*one);
        (*one, format!("{base}{}", in_language(path, parameter)))
    };
    offered.iter().map(address).collect()
}

/// Returns the links to a page in these languages.
pub fn translations(addresses: &[(Language, String)]) -> Vec<Translation<'_>> {
    let links = addresses.iter();
    links.map(|(one, url)| Translation { language: one.code(), name: one.name(), url }).collect()
}
