//! Every operation, in the order of the documentation.

use std::borrow::Cow;

use actix_web::http::Uri;
use percent_encoding::percent_decode_str;
use shell::{Operations, Routes};

use crate::handlers::{account, buckets, files, page, stats};

/// The parameter of keys.
const KEY: &str = "access_token";
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

/// The request target without keys, wherever one may stand: of an unknown path only the known words, of
/// unknown parameters nothing, and no value that names the parameter of keys. Cut where it is very long.
pub fn redact<'u>(operations: &Operations, uri: &'u Uri) -> Cow<'u, str> {
    let path = operations.redact(uri.path());
    let length = uri.path_and_query().map_or(0, |target| target.as_str().len());
    if length > LONGEST_LOGGED {
        return Cow::Owned(format!("{}?...", path.get(..256).unwrap_or(&path)));
    }
    let target = operations.redact_query(uri, &[KEY]);
    let Some(query) = uri.query().and_then(|_| target.split_once('?')).map(|(_, query)| query)
    else {
        return Cow::Owned(path);
    };
    let parts: Vec<Cow<'_, str>> = query.split('&').map(shown).collect();
    Cow::Owned(format!("{path}?{}", parts.join("&")))
}

/// What is shown of a part of a query in which values are hidden already.
fn shown(part: &str) -> Cow<'_, str> {
    let hidden = part.strip_suffix("***").map(|name| name.trim_end_matches('='));
    if let Some(name) = hidden {
        // The name of a parameter that is not known may be a key.
        return Cow::Borrowed(if name == KEY { part } else { "***" });
    }
    let text = percent_decode_str(part).decode_utf8_lossy();
    if !text.to_ascii_lowercase().contains(KEY) {
        return Cow::Borrowed(part);
    }
    let name = part.split(['=', '[', '%']).next().unwrap_or_default();
    Cow::Owned(format!("{name}=***"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYWORDS_AND_MORE: &str = "/api/v2/files?keywords=a&***";

    #[test]
    fn the_log_never_shows_a_key() {
        let operations = Operations::of(register);
        let redact = |uri: &Uri| redact(&operations, uri).into_owned();
        for (target, shown) in [
            ("/api/v2/files", "/api/v2/files"),
            ("/api/v2/files?", "/api/v2/files?"),
            ("/assets/search.js?v=1", "/assets/search.js?***"),
            (
                "/api/v2/files?limit=1&access_token=secret&b=c&acces%73_token=other",
                "/api/v2/files?limit=1&access_token=***&***&access_token=***",
            ),
            ("/api/v2/files?keywords=a&0123456789abcdef0123456789abcdef", KEYWORDS_AND_MORE),
            ("/api/v2/files?keywords=a&secret=1", KEYWORDS_AND_MORE),
            ("/api/v2/files?keywords=a;access_token=secret", "/api/v2/files?keywords=***"),
            ("/api/v2/files?keywords=a%26acces%73_Token=secret", "/api/v2/files?keywords=***"),
            ("/api/v2/files?keywords%5Baccess_token]=secret", "/api/v2/files?keywords=***"),
            ("/api/v2/files;access_token=secret", "/api/v2/{hidden}"),
            ("/x", "/{hidden}"),
        ] {
            assert_eq!(redact(&target.parse().unwrap()), shown, "{target}");
        }
        let long: Uri = format!("/x?access_token=secret&{}", "a".repeat(3_000)).parse().unwrap();
        assert_eq!(redact(&long), "/{hidden}?...");
    }
}
