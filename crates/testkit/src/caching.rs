//! Checks the caching headers of responses.

use reqwest::Method;
use reqwest::header::{CACHE_CONTROL, HeaderMap, HeaderName, VARY};
use shell::{Operation, Operations, Service};

use crate::TestServer;
use crate::must::must;

/// Requests all of a service's operations and pages and checks the caching headers, first without
/// credentials and then with each of the headers in `credentials`. Operations for which `shared`
/// returns true have the same response for all callers, so their caching must not depend on
/// credentials.
///
/// # Panics
/// Panics if a shared cache could return a response to the wrong caller, or if the `Cache-Control`
/// of a shared response depends on credentials.
pub async fn assert_caching<S: Service>(
    server: &TestServer,
    credentials: &[(&'static str, &str)],
    shared: impl Fn(&Operation) -> bool,
) {
    let names: Vec<&str> = credentials.iter().map(|(name, _)| *name).collect();
    let mut count = 0;
    for operation in Operations::of(S::operations).iter() {
        let path = filled(operation.template());
        // The table doesn't list the methods of all pages.
        let pages = [Method::GET, Method::POST];
        let listed: Vec<Method> = operation.methods().iter().map(known).collect();
        for method in if listed.is_empty() { pages.to_vec() } else { listed } {
            if shared(operation) && method != Method::GET {
                continue; // Caches store only responses to GET.
            }
            let what = format!("{method} {path}");
            let bare = headers_of(server, &method, &path, None).await;
            if !shared(operation) {
                assert_caller_dependent(&what, &bare, &names, false);
            }
            for (name, value) in credentials {
                let with = headers_of(server, &method, &path, Some((*name, *value))).await;
                if shared(operation) {
                    let caching = |headers| words(headers, CACHE_CONTROL.as_str());
                    assert_eq!(caching(&with), caching(&bare), "{what} with {name}");
                } else {
                    assert_caller_dependent(&what, &with, &names, true);
                }
            }
            count += 1;
        }
    }
    assert!(count > 0, "the service has operations");
}

/// Converts a method to the type used by the client.
fn known(method: &impl AsRef<str>) -> Method {
    must("know the method", method.as_ref().parse())
}

async fn headers_of(
    server: &TestServer,
    method: &Method,
    path: &str,
    credential: Option<(&'static str, &str)>,
) -> HeaderMap {
    let mut request = server.client().request(method.clone(), server.url(path));
    request = request.header("user-agent", "tests");
    if let Some((name, value)) = credential {
        request = request.header(HeaderName::from_static(name), value);
    }
    must(path, request.send().await).headers().clone()
}

/// Fills in the parameters of a path template.
fn filled(template: &str) -> String {
    let part = |part: &str| if part.starts_with('{') { "1".to_owned() } else { part.to_owned() };
    template.split('/').map(part).collect::<Vec<_>>().join("/")
}

/// Checks a response that depends on the caller. `names` are the request headers that can carry
/// credentials, and `sent` is true if the request had any of them.
///
/// `no-store` suffices. Otherwise, the response must list all `names` in `Vary`, and must be
/// `private, no-cache` if there were credentials.
#[track_caller]
fn assert_caller_dependent(what: &str, headers: &HeaderMap, names: &[&str], sent: bool) {
    let caching = words(headers, CACHE_CONTROL.as_str());
    let says = |word: &str| caching.iter().any(|known| known == word);
    if says("no-store") {
        return;
    }
    assert!(!says("public"), "{what}: {caching:?}");
    assert!(!sent || says("private") && says("no-cache"), "{what} with credentials: {caching:?}");
    let vary = words(headers, VARY.as_str());
    for name in names {
        let named = vary.iter().any(|known| known == "*" || known.eq_ignore_ascii_case(name));
        assert!(named, "{what} does not vary by {name}: {vary:?}");
    }
}

/// Returns the lowercased words of a comma-separated header.
fn words(headers: &HeaderMap, name: &str) -> Vec<String> {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    let words = values.flat_map(|value| value.split(','));
    words.map(|word| word.trim().to_ascii_lowercase()).filter(|word| !word.is_empty()).collect()
}
