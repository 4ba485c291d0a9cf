//! The service's operations, and the details to log about them.

use actix_web::{HttpRequest, web};
use shell::Routes;

use crate::handlers;
use crate::model::Kind;

pub use crate::handlers::{add_worker, answer_first};

/// Registers the page and the operations. [`answer_first`] handles the latter before routing.
pub fn register(routes: &mut Routes<'_>) {
    routes.answered_first(handlers::__path_get_password_range);
    routes.answered_first(handlers::__path_get_ntlm_range);
    // The page isn't part of the OpenAPI document.
    routes.page("/", web::get().to(handlers::check_page));
    routes.assets(&handlers::SITE);
}

/// Returns the details to add to the access log: the kind of hash, and whether padding was
/// requested.
pub fn note(request: &HttpRequest) -> &'static str {
    let Some((route, _)) = handlers::route(request.path()) else { return "" };
    let is_ntlm = route != handlers::RANGE || handlers::kind(request.uri().query()) == Kind::Ntlm;
    match (is_ntlm, handlers::wants_padding(request)) {
        (false, false) => ", sha1, not padded",
        (false, true) => ", sha1, padded",
        (true, false) => ", ntlm, not padded",
        (true, true) => ", ntlm, padded",
    }
}

#[cfg(test)]
mod tests {
    use shell::Operations;

    use super::*;

    #[test]
    fn the_log_never_shows_a_prefix() {
        let operations = Operations::of(register);
        for (path, shown) in [
            ("/range/ABCDE", "/range/{prefix}"),
            ("/range/ABCDE/x", "/range/{hidden}/{hidden}"),
            ("/ntlm/range/ABCDE", "/ntlm/range/{prefix}"),
            ("/ABCDE", "/{hidden}"),
            ("/", "/"),
            ("/docs/ABCDE", "/docs/{hidden}"),
            ("/openapi.json", "/openapi.json"),
        ] {
            assert_eq!(operations.redact(path), shown, "{path}");
        }
    }
}
