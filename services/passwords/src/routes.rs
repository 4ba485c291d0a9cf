//! Every operation of the service, and what the log shows of requests.

use std::borrow::Cow;

use actix_web::http::Uri;
use actix_web::{HttpRequest, web};
use shell::{Operations, Routes};

use crate::handlers;
use crate::model::Kind;

pub use crate::handlers::{add_worker, answer_first};

/// Adds the operations, which [`answer_first`] answers before routing, and the pages.
pub fn register(routes: &mut Routes<'_>) {
    routes.answered_first(handlers::__path_get_password_range);
    routes.answered_first(handlers::__path_get_ntlm_range);
    // The page is for people: it is no part of the document.
    routes.page("/", web::get().to(handlers::check_page));
    routes.assets(&handlers::SITE);
}

/// What the access log shows: never a prefix, nor anything that could be one.
pub fn redact<'u>(operations: &Operations, uri: &'u Uri) -> Cow<'u, str> {
    let path = uri.path();
    // The table says no more of a range, and its answer would be allocated.
    match handlers::route(path) {
        None => Cow::Owned(operations.redact(path)),
        Some((handlers::RANGE, _)) if handlers::kind(uri.query()) == Kind::Ntlm => {
            Cow::Borrowed("/range/{prefix}?mode=ntlm")
        }
        Some((route, _)) => Cow::Borrowed(route),
    }
}

/// What else the access log shows: whether padding was asked for.
pub fn note(request: &HttpRequest) -> &'static str {
    if handlers::wants_padding(request) { ", padded" } else { ", not padded" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_never_shows_a_prefix() {
        let operations = Operations::of(register);
        for (target, shown) in [
            ("/range/ABCDE", "/range/{prefix}"),
            ("/range/ABCDE?mode=ntlm&x=ABCDE", "/range/{prefix}?mode=ntlm"),
            ("/range/ABCDE/x", "/range/{prefix}"),
            ("/ntlm/range/ABCDE?x=ABCDE", "/ntlm/range/{prefix}"),
            ("/ntlm/range/ABCDE/x", "/ntlm/range/{prefix}"),
            ("/ABCDE", "/{hidden}"),
            ("/?ABCDE", "/"),
            ("/docs/ABCDE", "/docs/{hidden}"),
            ("/openapi.json", "/openapi.json"),
        ] {
            let uri: Uri = target.parse().unwrap();
            assert_eq!(redact(&operations, &uri), shown, "{target}");
        }
    }
}
