//! Finds the hosts of a page's images, for its content security policy.

use std::collections::BTreeSet;

use crate::model::image::web_url;

/// Maximum number of image origins in a page's content security policy.
const MAX: usize = 20;

/// Returns the origins of externally hosted images: the image at `address`, and the `img` elements
/// in `html`.
pub fn origins(address: Option<&str>, html: &str) -> Vec<String> {
    let in_text = html.split("src=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let urls = address.into_iter().chain(in_text).filter_map(web_url);
    let found: BTreeSet<String> = urls.map(|url| url.origin().ascii_serialization()).collect();
    found.into_iter().take(MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_distinct() {
        let html = "<img src=\"https://a.example/1.png\"><img src=\"https://a.example/2.png\">\
                    <img src=\"/media/1/x.png\"><img src=\"javascript:1\">";
        assert_eq!(
            origins(Some("http://b.example:81/x"), html),
            ["http://b.example:81", "https://a.example"]
        );
    }
}
