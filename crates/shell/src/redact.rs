//! What of a request target may be written down.

use std::borrow::Cow;

use actix_web::http::Uri;
use percent_encoding::percent_decode_str;

/// A request target without the values of some query parameters, which become `***`.
///
/// `secrets` are decoded names; brackets behind a name do not count.
///
/// ```
/// use actix_web::http::Uri;
/// use shell::redact_query;
///
/// let uri: Uri = "/rows?a=1&access%5Ftoken=secret&b".parse().unwrap();
/// assert_eq!(redact_query(&uri, &["access_token"]), "/rows?a=1&access_token=***&b");
/// ```
pub fn redact_query<'u>(uri: &'u Uri, secrets: &[&'static str]) -> Cow<'u, str> {
    let target = uri.path_and_query().map_or("/", |target| target.as_str());
    let Some((path, query)) = target.split_once('?') else { return Cow::Borrowed(target) };
    let mut shown = String::with_capacity(target.len());
    shown.push_str(path);
    let mut hidden = false;
    for (at, part) in query.split('&').enumerate() {
        shown.push(if at == 0 { '?' } else { '&' });
        match secret(part, secrets) {
            Some(name) => {
                hidden = true;
                shown.push_str(name);
                shown.push_str("=***");
            }
            None => shown.push_str(part),
        }
    }
    if hidden { Cow::Owned(shown) } else { Cow::Borrowed(target) }
}

/// The secret parameter that a part of a query names, with brackets or without.
fn secret(part: &str, secrets: &[&'static str]) -> Option<&'static str> {
    let name = part.split('=').next().unwrap_or_default().replace('+', " ");
    let name = percent_decode_str(&name).decode_utf8_lossy();
    let name = name.split('[').next().unwrap_or_default();
    secrets.iter().find(|secret| **secret == name).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_hidden_however_their_names_are_written() {
        for (target, shown) in [
            ("/x", "/x"),
            ("/x?a=1", "/x?a=1"),
            ("/x?password=p&a", "/x?password=***&a"),
            ("/x?pass%77ord=p", "/x?password=***"),
            ("/x?password[0]=p&password%5Ba%5D=q", "/x?password=***&password=***"),
            ("/x?passwords=p&apassword=q", "/x?passwords=p&apassword=q"),
            ("/x?password", "/x?password=***"),
            ("/x?", "/x?"),
        ] {
            let uri: Uri = target.parse().unwrap();
            assert_eq!(redact_query(&uri, &["password"]), shown, "{target}");
        }
    }
}
