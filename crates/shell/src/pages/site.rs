//! Everything that a service's pages share.

use actix_web::web::Bytes;
use actix_web::{HttpRequest, web};

use super::asset::Asset;
use crate::Fault;

/// The style sheet shared by all services.
pub(super) const STYLE: &str = concat!(
    include_str!("style/tokens.css"),
    include_str!("style/elements.css"),
    include_str!("style/components.css"),
);

const FOLDER: &str = "/assets/";

/// A service's accent color.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accent {
    /// Blue.
    Blue,
    /// Green.
    Green,
    /// Indigo.
    Indigo,
    /// Plum.
    Plum,
    /// Teal.
    Teal,
}

impl Accent {
    /// Returns the CSS class that sets the color tokens.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Blue => "accent-blue",
            Self::Green => "accent-green",
            Self::Indigo => "accent-indigo",
            Self::Plum => "accent-plum",
            Self::Teal => "accent-teal",
        }
    }

    /// Returns the color in light mode, which the icon uses too.
    pub(super) fn colour(self) -> &'static str {
        match self {
            Self::Blue => "#0b5cad",
            Self::Green => "#176b4d",
            Self::Indigo => "#4f46b8",
            Self::Plum => "#86297a",
            Self::Teal => "#0b6572",
        }
    }
}

pub(super) struct Link {
    pub(super) text: &'static str,
    pub(super) href: &'static str,
}

/// Everything that a service's pages share.
pub struct Site {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) accent: Accent,
    pub(super) icon: &'static str,
    pub(super) links: Vec<Link>,
    assets: Vec<Asset>,
    /// Style sheets used by every page.
    styles: Vec<&'static str>,
}

impl Site {
    /// Creates a site with the service's name and one-line description.
    ///
    /// The last navigation link leads to the API documentation.
    pub fn new(name: &'static str, about: &'static str, accent: Accent) -> Self {
        let links = vec![Link { text: "API", href: "docs/" }];
        let assets = vec![Asset::new("quintet.css", STYLE)];
        let styles = vec!["quintet.css"];
        Self { name, about, accent, icon: "", links, assets, styles }.icon("M5 5h14v14H5z")
    }

    /// Sets the service's icon, given as an SVG path on a 24×24 grid.
    pub fn icon(mut self, icon: &'static str) -> Self {
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 24 24\">\
             <rect width=\"24\" height=\"24\" rx=\"6\" fill=\"{}\"/>\
             <path fill=\"#fff\" fill-rule=\"evenodd\" transform=\"translate(4 4) scale(.6667)\" \
             d=\"{icon}\"/></svg>",
            self.accent.colour()
        );
        self.assets.retain(|asset| asset.name != "icon.svg");
        self.icon = icon;
        self.asset("icon.svg", text)
    }

    /// Adds a navigation link. `href` is relative to the site's root.
    pub fn link(mut self, text: &'static str, href: &'static str) -> Self {
        self.links.insert(self.links.len() - 1, Link { text, href });
        self
    }

    /// Adds a style sheet to every page, following the common one.
    pub fn style(mut self, name: &'static str, content: &'static [u8]) -> Self {
        self.styles.push(name);
        self.asset(name, content)
    }

    /// Adds a script. Pages opt in with `Page::script`.
    pub fn script(self, name: &'static str, content: &'static [u8]) -> Self {
        self.asset(name, content)
    }

    /// Adds a style sheet for embedded pages. Pages use it through `Page::embedded`.
    pub fn embedded_style(self, name: &'static str, content: &'static [u8]) -> Self {
        self.asset(name, content)
    }

    fn asset(mut self, name: &'static str, content: impl Into<Bytes>) -> Self {
        self.assets.push(Asset::new(name, content));
        self
    }

    /// Returns the URL of an asset, relative to the site's root.
    pub(super) fn href(&self, name: &str) -> String {
        let asset = self.assets.iter().find(|asset| asset.name == name);
        debug_assert!(asset.is_some(), "the site has no asset {name}");
        asset.map_or_else(String::new, |asset| format!("{}{}", &FOLDER[1..], asset.file))
    }

    /// Returns the URL of the icon, relative to the site's root.
    pub fn icon_href(&self) -> String {
        self.href("icon.svg")
    }

    pub(super) fn style_hrefs(&self) -> impl Iterator<Item = String> {
        self.styles.iter().map(|name| self.href(name))
    }

    /// Returns whether `path` belongs to an asset, for services that check paths before routing.
    pub fn has(&self, path: &str) -> bool {
        path.strip_prefix(FOLDER).is_some_and(|file| self.find(file).is_some())
    }

    fn find(&self, file: &str) -> Option<&Asset> {
        self.assets.iter().find(|asset| asset.file == file)
    }

    pub(crate) fn serve(&'static self, config: &mut web::ServiceConfig) {
        let answer = move |file: web::Path<String>, request: HttpRequest| async move {
            match self.find(&file) {
                Some(asset) => asset.respond(&request),
                None => Fault::NotFound.response(&request),
            }
        };
        config.route("/assets/{file}", web::get().to(answer));
    }
}
