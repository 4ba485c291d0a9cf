//! `Cache-Control` and `Vary` for responses that depend on the caller.

use actix_web::http::header::{CACHE_CONTROL, HeaderMap, HeaderName, HeaderValue, VARY};

/// The request headers that a path's responses depend on, and whether the request has any of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallerDependence<'s> {
    names: &'s [HeaderName],
    named_caller: bool,
}

impl<'s> CallerDependence<'s> {
    pub(crate) fn of(names: &'s [HeaderName], request: &HeaderMap) -> Self {
        Self { names, named_caller: names.iter().any(|name| request.contains_key(name)) }
    }

    /// Keeps the response out of shared caches if the caller sent credentials, and adds the headers
    /// to `Vary`.
    ///
    /// Does nothing for `no-store` responses, nor for `public` ones, which are the same for all
    /// callers.
    pub(crate) fn mark(self, answer: &mut HeaderMap) {
        // Most responses have just this word, which need not be split.
        let forbids_storing = |answer: &HeaderMap| {
            answer.get(CACHE_CONTROL).is_some_and(|value| value == "no-store")
                || contains(answer, &CACHE_CONTROL, "no-store")
        };
        if self.names.is_empty() || forbids_storing(answer) {
            return;
        }
        if contains(answer, &CACHE_CONTROL, "public") {
            return;
        }
        if self.named_caller {
            answer.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
        }
        let mut vary: Vec<String> = items(answer, &VARY).map(str::to_owned).collect();
        for name in self.names.iter().map(HeaderName::as_str) {
            if !vary.iter().any(|known| known == "*" || known.eq_ignore_ascii_case(name)) {
                vary.push(name.to_owned());
            }
        }
        // Combine the names into a single header field, because nginx ignores all but the first
        // `Vary` field.
        if let Ok(vary) = HeaderValue::try_from(vary.join(", ")) {
            answer.insert(VARY, vary);
        }
    }
}

/// Returns whether a header's comma-separated list contains `word`, ignoring case.
fn contains(headers: &HeaderMap, name: &HeaderName, word: &str) -> bool {
    items(headers, name).any(|item| item.eq_ignore_ascii_case(word))
}

/// Returns the items of a comma-separated list, which can be spread over several header fields.
fn items<'h>(headers: &'h HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'h str> + use<'h> {
    let values = headers.get_all(name).filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim).filter(|item| !item.is_empty())
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::{AUTHORIZATION, COOKIE};

    use super::*;

    /// Returns `Cache-Control` and `Vary` after marking a response that had the values `caching`
    /// and `vary`.
    fn marked(caching: &str, vary: &str, sent: &[&str]) -> (String, String) {
        let names = [AUTHORIZATION, COOKIE];
        let (mut request, mut answer) = (HeaderMap::new(), HeaderMap::new());
        for name in sent {
            let name = HeaderName::try_from(*name).unwrap();
            request.insert(name, HeaderValue::from_static(""));
        }
        for (name, value) in [(CACHE_CONTROL, caching), (VARY, vary)] {
            if !value.is_empty() {
                answer.insert(name, HeaderValue::from_str(value).unwrap());
            }
        }
        CallerDependence::of(&names, &request).mark(&mut answer);
        let text = |name| {
            let values = answer.get_all(name).map(|value| value.to_str().unwrap());
            values.collect::<Vec<_>>().join(" and ")
        };
        (text(CACHE_CONTROL), text(VARY))
    }

    #[test]
    fn answers_to_identified_callers_are_private_and_others_vary() {
        let both = "authorization, cookie";
        for (caching, vary, sent, expected) in [
            ("", "", &[][..], ("", both)),
            ("", "", &["cookie"], ("private, no-cache", both)),
            (
                "max-age=60",
                "Origin",
                &["authorization"],
                ("private, no-cache", "Origin, authorization, cookie"),
            ),
            ("max-age=60", "Authorization", &[], ("max-age=60", "Authorization, cookie")),
            ("private, max-age=60", "*", &["cookie"], ("private, no-cache", "*")),
            ("private, no-store", "", &["cookie"], ("private, no-store", "")),
            ("public, max-age=300", "Accept", &["cookie"], ("public, max-age=300", "Accept")),
            ("", "", &["x-other"], ("", both)),
        ] {
            let (caching_after, vary_after) = marked(caching, vary, sent);
            assert_eq!(
                (caching_after.as_str(), vary_after.as_str()),
                expected,
                "{caching} {sent:?}"
            );
        }
    }
}
