//! The frame of pages in the language of the page.

use actix_web::HttpRequest;
use shell::pages::{FrameWords, Page};

use crate::config::Settings;
use crate::model::language::Language;
use crate::model::urls::Urls;

/// The name of the parameter that selects a language.
const PARAMETER: &str = "lang";

/// The frame of a page in its language.
pub struct Frame {
    pub language: Language,
    /// Path of the site with a trailing slash.
    pub root: String,
    /// The query of links between pages: empty, or for example `?lang=de`.
    pub query: String,
    links: [&'static str; 4],
    /// The HTML of the line for programs.
    programs: String,
}

impl Frame {
    /// Builds the frame of pages with these URLs.
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

    /// Sets the frame of a page.
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

/// Returns the language that the query selects, if the site offers it. `None` for the default
/// language.
pub fn selected(request: &HttpRequest, settings: &Settings) -> Option<Language> {
    let pairs = url::form_urlencoded::parse(request.query_string().as_bytes());
    let (_, code) = pairs.filter(|(name, _)| name == PARAMETER).last()?;
    let language = Language::parse(&code)?;
    let is_offered = settings.languages().contains(&language);
    (is_offered && language != settings.site_locale).then_some(language)
}

/// Adds a language to the path of a page.
pub fn in_language(path: &str, language: Option<Language>) -> String {
    let mark = if path.contains('?') { '&' } else { '?' };
    match language {
        Some(language) => format!("{path}{mark}{PARAMETER}={}", language.code()),
        None => path.to_owned(),
    }
}
