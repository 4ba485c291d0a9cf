//! Links within a site.
#![expect(missing_docs, reason = "the filter macro adds undocumented items")]

use std::any::Any;
use std::fmt::Display;

use askama::{Result, Values, get_value};

/// Name of the template value that holds the site's root.
const ROOT: &str = "root";

/// The site's root as a template value.
pub(super) struct Root(pub(super) String);

impl Values for Root {
    fn get_value(&self, name: &str) -> Option<&dyn Any> {
        (name == ROOT).then_some(&self.0)
    }
}

/// Template filter that turns a path on the site into a link, as in `{{
/// "/sign-in"|shell::pages::link }}`.
///
/// The link is relative to the page's [`root`](super::Page::root). In templates rendered outside of
/// a [`Site`](super::Site), paths are left unchanged.
///
/// # Errors
/// Never fails, but `askama` requires filters to return a result.
#[askama::filter_fn]
pub fn link(path: impl Display, values: &dyn Values) -> Result<String> {
    let root = get_value::<String>(values, ROOT).map_or("/", String::as_str);
    let path = path.to_string();
    Ok(format!("{root}{}", path.strip_prefix('/').unwrap_or(&path)))
}
