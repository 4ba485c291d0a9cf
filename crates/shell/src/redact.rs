//! What of a request target may be written down.

use std::borrow::Cow;

use actix_web::http::Uri;
use percent_encoding::percent_decode_str;

/// Longest unknown name of a parameter that is shown, in bytes; keys are longer.
const LONGEST_NAME: usize = 24;

/// A request target without the values of some query parameters, which become `***`.
///
/// `is_shown` gets decoded names without brackets. What it does not know may be anything, so that
/// only its name is shown, and that only if it looks like one.
pub(crate) fn redact_query(uri: &Uri, is_shown: impl Fn(&str) -> bool) -> Cow<'_, str> {
    let target = uri.path_and_query().map_or("/", |target| target.as_str());
    let Some((path, query)) = target.split_once('?') else { return Cow::Borrowed(target) };
    let mut shown = String::with_capacity(target.len());
    shown.push_str(path);
    let mut hidden = false;
    for (at, part) in query.split('&').enumerate() {
        shown.push(if at == 0 { '?' } else { '&' });
        let name = name_of(part);
        if part.is_empty() || is_shown(&name) {
            shown.push_str(part);
            continue;
        }
        hidden = true;
        if looks_like_a_name(&name) {
            shown.push_str(&name);
            shown.push('=');
        }
        shown.push_str("***");
    }
    if hidden { Cow::Owned(shown) } else { Cow::Borrowed(target) }
}

/// The decoded name of a part of a query, without brackets.
fn name_of(part: &str) -> String {
    let name = part.split('=').next().unwrap_or_default().replace('+', " ");
    let name = percent_decode_str(&name).decode_utf8_lossy();
    name.split('[').next().unwrap_or_default().to_owned()
}

fn looks_like_a_name(text: &str) -> bool {
    let usual = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    (1..=LONGEST_NAME).contains(&text.len()) && text.bytes().all(usual)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_parameters_show_their_value() {
        let long = format!("/x?{}", "a1".repeat(16));
        for (target, shown) in [
            ("/x", "/x"),
            ("/x?", "/x?"),
            ("/x?page=1&tags[]=2&tags%5Ba%5D=3&page", "/x?page=1&tags[]=2&tags%5Ba%5D=3&page"),
            ("/x?password=p&page=1", "/x?password=***&page=1"),
            ("/x?pass%77ord=p&Page=2", "/x?password=***&Page=***"),
            ("/x?password[0]=p&pages=q", "/x?password=***&pages=***"),
            ("/x?key", "/x?key=***"),
            ("/x?a%20b=1&%00=2&=3", "/x?***&***&***"),
            (&long, "/x?***"),
        ] {
            let uri: Uri = target.parse().unwrap();
            let known = |name: &str| ["page", "tags"].contains(&name);
            assert_eq!(redact_query(&uri, known), shown, "{target}");
        }
    }
}
