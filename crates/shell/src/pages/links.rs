//! Links within a site.
#![expect(missing_docs, reason = "the macro for filters adds items without any")]

use std::any::Any;
use std::fmt::Display;

use askama::{Result, Values, get_value};

/// The name under which templates get the root of their site.
const ROOT: &str = "root";

/// The root of a site, for the templates of one page.
pub(super) struct Root(pub(super) String);

impl Values for Root {
    fn get_value(&self, name: &str) -> Option<&dyn Any> {
        (name == ROOT).then_some(&self.0)
    }
}

/// The link to a path of the site: `{{ "/sign-in"|shell::pages::link }}`.
///
/// It leads below the path of `PUBLIC_URL` if the page was given its [`root`](super::Page::root). A
/// template that no [`Site`](super::Site) renders keeps the path.
///
/// # Errors
/// None; templates want a result.
#[askama::filter_fn]
pub fn link(path: impl Display, values: &dyn Values) -> Result<String> {
    let root = get_value::<String>(values, ROOT).map_or("/", String::as_str);
    let path = path.to_string();
    Ok(format!("{root}{}", path.strip_prefix('/').unwrap_or(&path)))
}
