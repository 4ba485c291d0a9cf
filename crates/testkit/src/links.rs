//! Checks the links in a service's pages if a proxy serves the service below a path.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::Value;
use url::Url;

use crate::Answer;
use crate::must::must;

/// Maximum number of pages to visit per crawl.
const MOST: usize = 400;
/// Maximum number of pages to visit if their paths only differ in digits, as for calendar months.
const ALIKE: usize = 6;

/// Crawls all pages that can be reached from `paths`, and checks that everything stays below
/// `PUBLIC_URL`. This includes links, forms, images, styles, scripts, redirects, cookies, and the
/// servers in the OpenAPI document. Returns the paths that were visited.
///
/// `get` requests a path directly from the service, like a proxy that serves it below `public_url`
/// and strips that URL's path. The starting paths may fail, but all other pages must either succeed
/// or require a password.
///
/// # Panics
/// Panics if a link leads outside the service or is broken.
pub async fn links_below(
    public_url: &str,
    paths: &[&str],
    get: impl AsyncFn(&str) -> Answer,
) -> BTreeSet<String> {
    let root = must(public_url, Url::parse(&format!("{public_url}/")));
    let mut walk = Walk::new(root);
    for path in paths {
        let root = walk.root.clone();
        walk.follow("a test", &root, path.trim_start_matches('/'));
    }
    for number in 0..MOST {
        let Some((url, from)) = walk.next.pop_front() else { return walk.seen };
        let path = walk.path_in(&url).to_owned();
        let answer = get(&path).await;
        let may_fail = number < paths.len();
        let is_page = answer.status < 400 || matches!(answer.status, 401 | 403);
        assert!(may_fail || is_page, "{path} is {}: a link of {from}", answer.status);
        walk.read(&url, &path, &answer);
    }
    panic!("the walk does not end: {:?}", walk.seen);
}

struct Walk {
    root: Url,
    seen: BTreeSet<String>,
    next: VecDeque<(Url, String)>,
    /// Number of pages per path, with every digit in the path replaced by 0.
    shapes: BTreeMap<String, usize>,
}

impl Walk {
    fn new(root: Url) -> Self {
        Self { root, seen: BTreeSet::new(), next: VecDeque::new(), shapes: BTreeMap::new() }
    }

    /// Returns the path within the service, given a URL below the root.
    fn path_in<'u>(&self, url: &'u Url) -> &'u str {
        &url[url::Position::BeforePath..url::Position::AfterQuery][self.root.path().len() - 1..]
    }

    /// Checks a link and returns its target, or `None` if the target has another host or scheme.
    fn check(&self, from: &str, base: &str, link: &str) -> Option<Url> {
        let base = must(base, Url::parse(base));
        let mut url = must(link, base.join(link));
        if url.scheme() == "webcal" {
            url = must(link, Url::parse(&link.replacen("webcal", self.root.scheme(), 1)));
        }
        if !matches!(url.scheme(), "http" | "https") || url.host() != self.root.host() {
            return None;
        }
        let inside = url.as_str().starts_with(self.root.as_str());
        assert!(inside, "{link} on {from} leads to {url}, out of {}", self.root);
        Some(url)
    }

    fn follow(&mut self, from: &str, base: &Url, link: &str) {
        let Some(mut url) = self.check(from, base.as_str(), link) else { return };
        url.set_fragment(None);
        let path = self.path_in(&url).to_owned();
        let shape = path.replace(|byte: char| byte.is_ascii_digit(), "0");
        if self.seen.contains(&path) {
            return;
        }
        let alike = self.shapes.entry(shape).or_default();
        *alike += 1;
        if *alike <= ALIKE {
            self.seen.insert(path);
            self.next.push_back((url, from.to_owned()));
        }
    }

    fn read(&mut self, url: &Url, path: &str, answer: &Answer) {
        for cookie in answer.headers.get_all("set-cookie") {
            let cookie = must("read a cookie", cookie.to_str());
            let place = format!("Path={}", self.root.path());
            assert!(cookie.split("; ").any(|part| part == place), "{path} sets {cookie}");
        }
        let location = answer.header("location");
        if !location.is_empty() {
            self.follow(path, url, location);
        }
        let kind = answer.header("content-type").to_owned();
        if kind.starts_with("text/html") {
            let html = answer.text();
            for (name, value) in attributes(html) {
                match name {
                    "action" | "content" => drop(self.check(path, url.as_str(), &value)),
                    _ => self.follow(path, url, &value),
                }
            }
        } else if kind.contains("javascript") {
            self.read_script(path, answer.text());
        } else if kind.starts_with("application/json") && path.ends_with("/openapi.json") {
            let document = answer.json();
            for server in document["servers"].as_array().into_iter().flatten() {
                // Clients append a path from the document, which starts with a slash.
                let server = server["url"].as_str().unwrap_or_default().trim_end_matches('/');
                self.check(path, url.as_str(), &format!("{server}/"));
            }
            assert!(document["servers"] != Value::Null, "{path} names no server");
        }
    }

    /// Checks a script. Swagger UI must load its document from a relative URL, and scripts must not
    /// use any absolute paths.
    fn read_script(&mut self, path: &str, script: &str) {
        if path.ends_with("/swagger-initializer.js") {
            let (_, rest) = must(path, script.split_once("\"url\": \"").ok_or("no document"));
            let document = rest.split('"').next().unwrap_or_default();
            let page = must(path, self.root.join("docs/"));
            self.follow(path, &page, document);
        }
        if path.starts_with("/assets/") {
            for mark in ["fetch('/", "fetch(\"/", "fetch(`/"] {
                assert!(!script.contains(mark), "{path} uses a path of the host");
            }
        }
    }
}

/// Returns all attributes of a page that contain URLs, unescaped.
fn attributes(html: &str) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    for (name, mark) in [
        ("href", " href=\""),
        ("src", " src=\""),
        ("action", " action=\""),
        ("content", " content=\"http"),
    ] {
        for (at, _) in html.match_indices(mark) {
            let value = html[at + mark.len()..].split('"').next().unwrap_or_default();
            let value = value.replace("&#38;", "&").replace("&amp;", "&");
            let value = if name == "content" { format!("http{value}") } else { value };
            found.push((name, value));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk() -> Walk {
        Walk::new(Url::parse("https://host.example/base/").unwrap())
    }

    #[test]
    fn links_within_the_base_are_followed_and_others_are_ignored() {
        let mut walk = walk();
        let page = Url::parse("https://host.example/base/a/b").unwrap();
        for link in
            ["c", "../x?y=1#z", "/base/d", "https://else.example/", "mailto:a@b.example", "#here"]
        {
            walk.follow("page", &page, link);
        }
        let seen: Vec<&str> = walk.seen.iter().map(String::as_str).collect();
        assert_eq!(seen, ["/a/b", "/a/c", "/d", "/x?y=1"]);
    }

    #[test]
    #[should_panic = "leads to https://host.example/sign-in"]
    fn a_link_to_the_root_of_the_host_is_found() {
        let page = Url::parse("https://host.example/base/a").unwrap();
        walk().follow("page", &page, "/sign-in");
    }
}
