//! Media types and `Accept-Encoding`.

use actix_web::http::header::HeaderValue;

/// Returns the media type of a `Content-Type` without its parameters, in its original letter case.
///
/// ```
/// use actix_web::http::header::HeaderValue;
/// use shell::media::essence;
///
/// assert_eq!(essence(&HeaderValue::from_static("Text/HTML; charset=utf-8")), Some("Text/HTML"));
/// ```
pub fn essence(value: &HeaderValue) -> Option<&str> {
    Some(value.to_str().ok()?.split(';').next().unwrap_or_default().trim())
}

/// Returns whether a `Content-Type` is `application/json`, `text/json` or `application/*+json`. Any
/// `charset` other than UTF-8 is rejected.
///
/// ```
/// use actix_web::http::header::HeaderValue;
/// use shell::media::is_json;
///
/// assert!(is_json(&HeaderValue::from_static("application/problem+json; charset=UTF-8")));
/// assert!(!is_json(&HeaderValue::from_static("application/json; charset=latin1")));
/// ```
pub fn is_json(value: &HeaderValue) -> bool {
    let Ok(text) = value.to_str() else { return false };
    let mut parts = text.split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default();
    let equals = |name: &str| essence.eq_ignore_ascii_case(name);
    let ends = |start: &str, end: &str| {
        let bytes = essence.as_bytes();
        bytes.len() >= start.len() + end.len()
            && bytes[..start.len()].eq_ignore_ascii_case(start.as_bytes())
            && bytes[bytes.len() - end.len()..].eq_ignore_ascii_case(end.as_bytes())
    };
    let json = equals("application/json") || equals("text/json") || ends("application/", "+json");
    let foreign = |parameter: &str| match parameter.split_once('=') {
        Some((name, value)) if name.trim().eq_ignore_ascii_case("charset") => {
            !value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
        }
        _ => false,
    };
    json && !parts.any(foreign)
}

/// Returns whether an `Accept-Encoding` header lists `coding` with a weight above 0.
///
/// `*` is ignored, so only codings that are listed count as accepted. Doesn't allocate.
///
/// ```
/// use shell::media::accepts_coding;
///
/// assert!(accepts_coding([&b"br, gzip;q=0.5"[..]], "gzip"));
/// assert!(!accepts_coding([&b"gzip;q=0"[..]], "gzip"));
/// assert!(!accepts_coding([&b"*"[..]], "gzip"));
/// ```
pub fn accepts_coding<'a>(values: impl IntoIterator<Item = &'a [u8]>, coding: &str) -> bool {
    for value in values {
        for item in value.split(|byte| *byte == b',') {
            let mut parts = item.split(|byte| *byte == b';');
            let listed = parts.next().unwrap_or_default().trim_ascii();
            if listed.eq_ignore_ascii_case(coding.as_bytes()) {
                return parts.all(|parameter| !is_zero_weight(parameter));
            }
        }
    }
    false
}

/// Returns whether a parameter is a weight of zero, e.g. `q=0` or `q=0.000`.
fn is_zero_weight(parameter: &[u8]) -> bool {
    let parameter = parameter.trim_ascii();
    let Some((name, value)) = parameter.split_first() else { return false };
    let Some(value) = value.trim_ascii_start().strip_prefix(b"=") else { return false };
    let value = value.trim_ascii();
    name.eq_ignore_ascii_case(&b'q')
        && !value.is_empty()
        && value.iter().all(|byte| matches!(byte, b'0' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_types_are_recognised() {
        for kind in [
            "application/json",
            "Application/JSON; charset=UTF-8",
            "application/json-patch+json",
            "text/json;charset=\"utf-8\"",
            "application/vnd.example+json",
        ] {
            assert!(is_json(&HeaderValue::from_static(kind)), "{kind}");
        }
        for kind in
            ["text/plain", "application/json; charset=latin1", "text/x+json", "", "json", "+json"]
        {
            assert!(!is_json(&HeaderValue::from_static(kind)), "{kind}");
        }
    }

    #[test]
    fn weights_and_lists_are_parsed() {
        let table: [(&[&str], bool); 14] = [
            (&[], false),
            (&["gzip"], true),
            (&["GZip"], true),
            (&["br, gzip, deflate"], true),
            (&["br", "gzip"], true),
            (&["gzip;q=0"], false),
            (&["gzip; q=0.000"], false),
            (&["gzip ; Q = 0"], false),
            (&["gzip;q=0.001"], true),
            (&["identity, gzip;q=1"], true),
            (&["br"], false),
            (&["*"], false),
            (&["xgzip, gzipx"], false),
            (&["gzip;q="], true),
        ];
        for (values, expected) in table {
            let bytes = values.iter().map(|value| value.as_bytes());
            assert_eq!(accepts_coding(bytes, "gzip"), expected, "{values:?}");
        }
    }
}
