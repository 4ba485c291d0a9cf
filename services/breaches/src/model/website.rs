//! Extracts the website from a stealer log line.

use std::collections::HashSet;
use std::sync::LazyLock;

use domain::DomainName;

/// Top-level domains, plus unofficial ones used in private networks.
static TOP_LEVEL: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let lines = include_str!("../../data/top_level_domains.txt").lines();
    lines.filter(|line| !line.starts_with('#')).collect()
});

/// Returns `true` if a lowercase label is a top-level domain.
pub fn is_top_level(label: &str) -> bool {
    TOP_LEVEL.contains(label)
}

/// Returns `true` if this could be the domain of a website. The top-level domain at the end rules
/// out most passwords that contain a dot.
pub fn is_possible(domain: &str) -> bool {
    domain.rsplit('.').next().is_some_and(is_top_level)
}

/// Returns whether a name could belong to an Android app. These start with a top-level domain, e.g.
/// `com.example.shop`.
fn is_app(name: &str) -> bool {
    name.split_once('.').is_some_and(|(first, _)| is_top_level(first))
}

/// Returns whether [`host`] could have returned this name for a website or an app.
pub fn is_stored(name: &str) -> bool {
    let is_host = DomainName::parse(name).is_ok_and(|domain| domain.as_str() == name);
    is_host && (is_possible(name) || is_app(name))
}

/// Scheme of Android apps in stealer logs.
const APP: &str = "android://";

/// Returns the host of a URL or a bare host in lower case, without a leading `www.` or a port. The
/// host of `android://HASH@com.example.shop/` is the name of the app.
///
/// Returns `None` for IP addresses and anything else that isn't a website's domain. This includes
/// email addresses, because the fields of such a row may be in the wrong order.
pub fn host(text: &str) -> Option<DomainName> {
    let text = text.trim();
    let is_android = text.get(..APP.len()).is_some_and(|start| start.eq_ignore_ascii_case(APP));
    // A `://` after the start of the path or query belongs to another URL.
    let url = text.split_once("://").filter(|(scheme, _)| !scheme.contains(['/', '?', '#', '\\']));
    let rest = url.map_or(text, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    if url.is_none() && authority.contains('@') {
        return None;
    }
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => host,
    };
    let may_be = |name: &str| is_possible(name) || (is_android && is_app(name));
    let name = DomainName::parse(host).ok().filter(|name| may_be(name.as_str()))?;
    match name.as_str().strip_prefix("www.") {
        Some(bare) => DomainName::parse(bare).ok().or(Some(name)),
        None => Some(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_is_read_from_urls_and_bare_hosts() {
        for (text, expected) in [
            ("https://www.Shop.example/login?next=a@b.example", "shop.example"),
            ("shop.example:8443", "shop.example"),
            ("shop.example/login?c=https://other.example/", "shop.example"),
            ("https://shop.example/?c=https://other.example/", "shop.example"),
            ("http://user:word@login.shop.example:80/", "login.shop.example"),
            (" Bücher.example ", "xn--bcher-kva.example"),
            ("www.example", "www.example"),
            ("android://key==@com.shop.example/", "com.shop.example"),
            ("android://k_e-y==@com.Example.Katana/", "com.example.katana"),
            ("Android://key==@com.slack", "com.slack"),
        ] {
            assert_eq!(host(text).unwrap().as_str(), expected, "{text}");
            assert!(is_stored(expected), "{expected}");
        }
    }

    #[test]
    fn text_that_is_not_a_host_is_not_stored() {
        for text in ["shop.example:secret", "com.example:secret", "Shop.example", "Summer.2024"] {
            assert!(!is_stored(text), "{text}");
        }
    }

    #[test]
    fn text_without_a_website_has_no_host() {
        for text in [
            "",
            "http://192.0.2.1/login",
            "http://[2001:db8::1]/",
            "localhost",
            "///",
            "a b.example",
            "Summer.2024",
            "correct.battery",
            "p4ss.w0rd",
            "com.example.katana",
            "https://com.example.katana/",
            "android://key==@secret.word/",
            "a@b.example",
            "a@b.example/login",
        ] {
            assert_eq!(host(text), None, "{text}");
        }
    }
}
