//! Every operation, in the order of the documentation.

use std::borrow::Cow;

use actix_web::http::Uri;
use shell::{Operations, Routes};

use crate::handlers::{account, buckets, files, page, stats};

/// Bytes of a request target that the log shows.
const LONGEST_LOGGED: usize = 2_048;

/// Registers every operation.
pub fn register(routes: &mut Routes<'_>) {
    // The page is for people: it is not part of the document.
    routes.page("/", actix_web::web::get().to(page::search_page));
    routes.assets(&page::SITE);
    routes.add(files::search_files);
    routes.add(buckets::list_buckets);
    routes.add(stats::get_stats);
    routes.add(account::get_account);
}

/// The request target with keys and unknown parameters hidden, and cut where it is very long.
pub fn redact<'u>(operations: &Operations, uri: &'u Uri) -> Cow<'u, str> {
    let length = uri.path_and_query().map_or(0, |target| target.as_str().len());
    if length > LONGEST_LOGGED {
        return Cow::Owned(format!("{}?...", uri.path().get(..256).unwrap_or(uri.path())));
    }
    operations.redact_query(uri, &["access_token"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_never_shows_a_key() {
        let operations = Operations::of(register);
        let redact = |uri: &Uri| redact(&operations, uri).into_owned();
        let uri: Uri =
            "/api/v2/files?limit=1&access_token=secret&b=c&acces%73_token=other".parse().unwrap();
        assert_eq!(redact(&uri), "/api/v2/files?limit=1&access_token=***&b=***&access_token=***");
        assert_eq!(redact(&Uri::from_static("/x")), "/x");
        let long: Uri = format!("/x?access_token=secret&{}", "a".repeat(3_000)).parse().unwrap();
        assert_eq!(redact(&long), "/x?...");
    }
}
