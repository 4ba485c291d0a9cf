//! Descriptions. Cleaned markup is inert and can be cleaned again.
#![no_main]

use breaches::model::{allowed_markup, is_allowed_markup};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|html: &str| {
    let left = allowed_markup(html);
    let _ = allowed_markup(&left);
    // Text escapes brackets as `&lt;`, so each one starts a tag.
    for tag in left.split('<').skip(1) {
        let is_name = |c: char| c.is_ascii_alphanumeric();
        let name = tag.trim_start_matches('/');
        let name = &name[..name.find(|c| !is_name(c)).unwrap_or(name.len())];
        for active in ["script", "style", "iframe", "svg", "math", "img", "form", "input", "meta"] {
            assert!(!name.eq_ignore_ascii_case(active), "{active}");
        }
        if let Some((_, link)) = tag.split_once("a href=\"").filter(|(before, _)| before.is_empty())
        {
            assert!(!link.starts_with("javascript:") && !link.starts_with("data:"), "{link}");
        }
    }
    let _ = is_allowed_markup(html);
});
