//! Parses range requests.

use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use shell::media;

use crate::app::Padding;
use crate::model::Kind;

const ADD_PADDING: HeaderName = HeaderName::from_static("add-padding");

/// Reads the client's padding preference from the headers.
pub fn padding(headers: &HeaderMap) -> Padding {
    match headers.get(&ADD_PADDING) {
        None => Padding::NotMentioned,
        Some(value) if value.as_bytes().eq_ignore_ascii_case(b"true") => Padding::Wanted,
        Some(_) => Padding::NotWanted,
    }
}

/// Returns whether the client accepts gzip.
pub fn takes_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT_ENCODING).map(HeaderValue::as_bytes);
    media::accepts_coding(values, "gzip")
}

/// Returns NTLM if the first `mode` parameter decodes to exactly `ntlm`, and SHA-1 otherwise.
pub fn kind(query: Option<&str>) -> Kind {
    let pairs = query.unwrap_or_default().split('&');
    let mut pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    match pairs.find(|(name, _)| is(name, b"mode")) {
        Some((_, value)) if is(value, b"ntlm") => Kind::Ntlm,
        _ => Kind::Sha1,
    }
}

/// Returns whether a form-encoded string decodes to `expected`.
fn is(encoded: &str, expected: &[u8]) -> bool {
    let digit = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let mut rest = encoded.as_bytes();
    let mut expected = expected.iter();
    while let Some((first, after)) = rest.split_first() {
        let decoded = match first {
            b'+' => b' ',
            b'%' => match (digit(after.first()), digit(after.get(1))) {
                (Some(high), Some(low)) => {
                    rest = &after[2..];
                    if expected.next() != Some(&((high << 4 | low) as u8)) {
                        return false;
                    }
                    continue;
                }
                _ => b'%',
            },
            byte => *byte,
        };
        rest = after;
        if expected.next() != Some(&decoded) {
            return false;
        }
    }
    expected.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_mode_counts_and_only_ntlm_is_another_kind() {
        for query in
            ["mode=ntlm", "x=1&mode=ntlm", "mode=nt%6Cm", "m%6Fde=ntlm&mode=sha1", "mode=ntlm&"]
        {
            assert_eq!(kind(Some(query)), Kind::Ntlm, "{query}");
        }
        let others = [
            "",
            "mode",
            "mode=",
            "mode=NTLM",
            "mode=ntlm+",
            "mode=ntlm%",
            "mode=%6",
            "Mode=ntlm",
            "mode=sha1&mode=ntlm",
            "amode=ntlm",
            "mode=ntl",
            "mode=%FF",
        ];
        for query in others {
            assert_eq!(kind(Some(query)), Kind::Sha1, "{query}");
        }
        assert_eq!(kind(None), Kind::Sha1);
    }
}
