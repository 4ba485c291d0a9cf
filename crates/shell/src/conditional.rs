//! Conditional requests: entity tags, `If-None-Match`, `If-Match`, `If-Modified-Since` and 304
//! responses.

use std::time::{Duration, UNIX_EPOCH};

use actix_web::http::header::{
    CACHE_CONTROL, ETAG, HeaderMap, HeaderValue, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH,
    LAST_MODIFIED,
};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};

/// Maximum length of an entity tag, not counting quotes.
const LONGEST: usize = 64;
/// The last second of the year 9999, the latest date that HTTP can express.
const LAST_SECOND: i64 = 253_402_300_799;

/// An entity tag, stored inline.
///
/// ```
/// use shell::EntityTag;
///
/// let tag = EntityTag::of_digest(&[0xda, 0x39]);
/// assert_eq!(tag.strong(), b"\"da39\"");
/// assert_eq!(tag.weak(), b"W/\"da39\"");
/// assert!(tag.is_listed([&b"\"x\", W/\"da39\""[..]]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntityTag {
    /// The tag, preceded by `W/"` and followed by `"`.
    bytes: [u8; LONGEST + 4],
    length: usize,
}

impl EntityTag {
    /// Creates a tag from the first 64 visible characters of `text`, leaving out quotes.
    ///
    /// ```
    /// assert_eq!(shell::EntityTag::new("5-1772366400").strong(), b"\"5-1772366400\"");
    /// ```
    pub fn new(text: &str) -> Self {
        let visible = text.bytes().filter(|byte| byte.is_ascii_graphic() && *byte != b'"');
        Self::of_bytes(visible)
    }

    /// Creates a tag from the first 32 bytes of a digest, in hex.
    pub fn of_digest(digest: &[u8]) -> Self {
        let digit = |number: u8| b"0123456789abcdef"[usize::from(number & 15)];
        Self::of_bytes(digest.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]))
    }

    fn of_bytes(text: impl Iterator<Item = u8>) -> Self {
        let mut bytes = [0; LONGEST + 4];
        bytes[..3].copy_from_slice(b"W/\"");
        let mut length = 3;
        for byte in text.take(LONGEST) {
            bytes[length] = byte;
            length += 1;
        }
        bytes[length] = b'"';
        Self { bytes, length: length + 1 }
    }

    /// Returns the strong form, which identifies one exact representation.
    pub fn strong(&self) -> &[u8] {
        &self.bytes[2..self.length]
    }

    /// Returns the weak form. All representations of the same content, e.g. compressed ones, share
    /// it.
    pub fn weak(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Returns the strong form as a header value.
    ///
    /// ```
    /// assert_eq!(shell::EntityTag::new("7").strong_header(), "\"7\"");
    /// ```
    pub fn strong_header(&self) -> HeaderValue {
        header(self.strong())
    }

    /// Returns the weak form as a header value.
    ///
    /// ```
    /// assert_eq!(shell::EntityTag::new("7").weak_header(), "W/\"7\"");
    /// ```
    pub fn weak_header(&self) -> HeaderValue {
        header(self.weak())
    }

    /// Returns whether this tag is among the values of an `If-None-Match` header, either weak or
    /// strong. `*` matches any tag.
    pub fn is_listed<'v>(&self, values: impl IntoIterator<Item = &'v [u8]>) -> bool {
        values.into_iter().any(|value| items(value).any(|item| self.matches(item, true)))
    }

    /// Returns whether `item` is this tag. Weak items only match if `weakly` is true.
    fn matches(&self, item: &[u8], weakly: bool) -> bool {
        let strong = match item.strip_prefix(b"W/") {
            Some(rest) if weakly => rest,
            _ => item,
        };
        item == b"*" || strong == self.strong()
    }
}

fn header(tag: &[u8]) -> HeaderValue {
    HeaderValue::from_bytes(tag).unwrap_or_else(|_| HeaderValue::from_static("\"\""))
}

/// Splits a list of tags at commas, except inside quotes.
fn items(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut quoted = false;
    let parts = value.split(move |byte| {
        quoted ^= *byte == b'"';
        *byte == b',' && !quoted
    });
    parts.map(<[u8]>::trim_ascii)
}

/// The entity tag and modification time of a response, which clients send back in conditional
/// requests.
///
/// ```
/// use actix_web::HttpResponse;
/// use actix_web::test::TestRequest;
/// use shell::{EntityTag, Validators};
///
/// let validators = Validators::weak(EntityTag::new("7"));
/// let request = TestRequest::default().insert_header(("if-none-match", "\"7\"")).to_http_request();
/// let answer = validators.answer(&request, "public, max-age=60", |mut ok| ok.body("rows"));
/// assert_eq!(answer.status(), 304);
/// assert_eq!(answer.headers().get("etag").unwrap(), "W/\"7\"");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Validators {
    tag: EntityTag,
    weak: bool,
    sent: Option<i64>,
    asked: Option<i64>,
}

impl Validators {
    /// Uses a strong tag, for responses with only one representation.
    pub fn strong(tag: EntityTag) -> Self {
        Self { tag, weak: false, sent: None, asked: None }
    }

    /// Uses a weak tag, for responses that are sometimes compressed.
    pub fn weak(tag: EntityTag) -> Self {
        Self { weak: true, ..Self::strong(tag) }
    }

    /// Sets the modification time in Unix seconds, which is sent as `Last-Modified` and compared to
    /// `If-Modified-Since`.
    ///
    /// ```
    /// use actix_web::test::TestRequest;
    /// use shell::{EntityTag, Validators};
    ///
    /// let validators = Validators::strong(EntityTag::new("7")).modified(784_111_777);
    /// let since = ("if-modified-since", "Sun, 06 Nov 1994 08:49:37 GMT");
    /// let request = TestRequest::default().insert_header(since).to_http_request();
    /// assert!(validators.are_known(request.headers()));
    /// ```
    #[must_use]
    pub fn modified(self, seconds: i64) -> Self {
        Self { sent: Some(seconds), asked: Some(seconds), ..self }
    }

    /// Sets the modification time in Unix seconds, but ignores `If-Modified-Since`. Use this if the
    /// content can change without a newer modification time.
    ///
    /// ```
    /// use actix_web::test::TestRequest;
    /// use shell::{EntityTag, Validators};
    ///
    /// let validators = Validators::strong(EntityTag::new("7")).dated(784_111_777);
    /// let since = ("if-modified-since", "Sun, 06 Nov 1994 08:49:37 GMT");
    /// let request = TestRequest::default().insert_header(since).to_http_request();
    /// assert!(!validators.are_known(request.headers()));
    /// ```
    #[must_use]
    pub fn dated(self, seconds: i64) -> Self {
        Self { sent: Some(seconds), asked: None, ..self }
    }

    /// Caps the time sent as `Last-Modified` at `now`, because this header must not be in the
    /// future. `If-Modified-Since` is still compared to the actual modification time.
    ///
    /// ```
    /// use actix_web::HttpResponse;
    /// use actix_web::test::TestRequest;
    /// use shell::{EntityTag, Validators};
    ///
    /// let validators = Validators::strong(EntityTag::new("7")).modified(784_111_780);
    /// let validators = validators.sent_by(784_111_777);
    /// let since = ("if-modified-since", "Sun, 06 Nov 1994 08:49:37 GMT");
    /// let request = TestRequest::default().insert_header(since).to_http_request();
    /// let answer = validators.answer(&request, "no-cache", |mut ok| ok.finish());
    /// assert_eq!(answer.status(), 200);
    /// assert_eq!(answer.headers().get("last-modified").unwrap(), since.1);
    /// ```
    #[must_use]
    pub fn sent_by(self, now: i64) -> Self {
        Self { sent: self.sent.map(|seconds| seconds.min(now)), ..self }
    }

    /// Returns whether the client already has this response. The entity tag takes precedence over
    /// the time.
    pub fn are_known(&self, headers: &HeaderMap) -> bool {
        is_known(headers, &self.tag, self.asked)
    }

    /// Responds with 304 if the client already has the response, and with the result of `whole`
    /// otherwise. Either way, the response gets the validators and `Cache-Control`.
    pub fn answer(
        &self,
        request: &HttpRequest,
        cache_control: &'static str,
        whole: impl FnOnce(HttpResponseBuilder) -> HttpResponse,
    ) -> HttpResponse {
        let mut response = match self.are_known(request.headers()) {
            true => HttpResponse::NotModified().finish(),
            false => whole(HttpResponse::Ok()),
        };
        let tag = if self.weak { self.tag.weak_header() } else { self.tag.strong_header() };
        let headers = response.headers_mut();
        headers.insert(ETAG, tag);
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(cache_control));
        if let Some(date) = self.sent.and_then(http_date) {
            headers.insert(LAST_MODIFIED, date);
        }
        response
    }
}

/// Returns whether the client already has a response with this tag. If the client didn't send any
/// tags, a response that isn't older than `modified` (in Unix seconds) will do. Doesn't allocate.
///
/// ```
/// use actix_web::test::TestRequest;
/// use shell::{EntityTag, is_known};
///
/// let request = TestRequest::default().insert_header(("if-none-match", "*")).to_http_request();
/// assert!(is_known(request.headers(), &EntityTag::new("7"), None));
/// ```
pub fn is_known(headers: &HeaderMap, tag: &EntityTag, modified: Option<i64>) -> bool {
    if headers.contains_key(IF_NONE_MATCH) {
        return tag.is_listed(headers.get_all(IF_NONE_MATCH).map(HeaderValue::as_bytes));
    }
    let since = headers.get(IF_MODIFIED_SINCE).and_then(|value| value.to_str().ok());
    let since = since.and_then(parse_http_date);
    since.zip(modified).is_some_and(|(since, modified)| since >= modified)
}

/// Returns whether `If-Match` permits changing a resource with this tag. It does if the header is
/// missing, is `*`, or contains the tag in its strong form.
///
/// ```
/// use actix_web::test::TestRequest;
/// use shell::{EntityTag, may_change};
///
/// let request = TestRequest::default().insert_header(("if-match", "\"6\"")).to_http_request();
/// assert!(!may_change(request.headers(), &EntityTag::new("7")));
/// ```
pub fn may_change(headers: &HeaderMap, tag: &EntityTag) -> bool {
    let mut values = headers.get_all(IF_MATCH).peekable();
    values.peek().is_none()
        || values.any(|value| items(value.as_bytes()).any(|item| tag.matches(item, false)))
}

/// Formats Unix seconds as an HTTP date. Returns `None` for times before 1970 or after 9999.
///
/// ```
/// assert_eq!(shell::http_date(784_111_777).unwrap(), "Sun, 06 Nov 1994 08:49:37 GMT");
/// assert_eq!(shell::http_date(-1), None);
/// ```
pub fn http_date(seconds: i64) -> Option<HeaderValue> {
    let seconds = u64::try_from(seconds).ok().filter(|_| seconds <= LAST_SECOND)?;
    let text = httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(seconds));
    HeaderValue::from_str(&text).ok()
}

/// Parses an HTTP date in any of the three formats that servers must accept, and returns Unix
/// seconds.
///
/// ```
/// assert_eq!(shell::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
/// assert_eq!(shell::parse_http_date("yesterday"), None);
/// ```
pub fn parse_http_date(text: &str) -> Option<i64> {
    let time = httpdate::parse_http_date(text).ok()?;
    i64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_secs()).ok()
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    const DIGEST: [u8; 8] = [0xda, 0x39, 0xa3, 0xee, 0x5e, 0x6b, 0x4b, 0x0d];

    #[test]
    fn lists_weak_tags_and_the_star_match() {
        let tag = EntityTag::of_digest(&DIGEST);
        assert_eq!(tag.strong(), b"\"da39a3ee5e6b4b0d\"");
        let table = [
            ("\"da39a3ee5e6b4b0d\"", true),
            ("W/\"da39a3ee5e6b4b0d\"", true),
            ("\"x\", W/\"da39a3ee5e6b4b0d\" , \"y\"", true),
            ("\"a,b\",\"da39a3ee5e6b4b0d\"", true),
            ("\"a, W/\",\"b\"", false),
            (" * ", true),
            ("\"*\"", false),
            ("", false),
            ("da39a3ee5e6b4b0d", false),
            ("\"da39a3ee5e6b4b0d", false),
            ("\"DA39A3EE5E6B4B0D\"", false),
            ("\"x\"", false),
        ];
        for (value, expected) in table {
            assert_eq!(tag.is_listed([value.as_bytes()]), expected, "{value}");
        }
    }

    #[test]
    fn tags_keep_only_visible_characters() {
        assert_eq!(EntityTag::new("a\"b c\n").strong(), b"\"abc\"");
        assert_eq!(EntityTag::new(&"x".repeat(100)).strong().len(), 66);
        assert_eq!(EntityTag::of_digest(&[0; 64]).weak().len(), 68);
    }

    fn known(headers: &[(&str, &str)], modified: Option<i64>) -> bool {
        let request = headers
            .iter()
            .fold(TestRequest::default(), |request, header| request.append_header(*header))
            .to_http_request();
        is_known(request.headers(), &EntityTag::new("7"), modified)
    }

    #[test]
    fn tags_take_precedence_over_dates() {
        let since = ("if-modified-since", "Sun, 06 Nov 1994 08:49:37 GMT");
        assert!(known(&[since], Some(784_111_777)));
        assert!(!known(&[since], Some(784_111_778)));
        assert!(!known(&[since], None));
        assert!(!known(&[since, ("if-none-match", "\"6\"")], Some(1)));
        assert!(known(&[("if-none-match", "\"6\""), ("if-none-match", "\"7\"")], None));
        assert!(!known(&[("if-modified-since", "once")], Some(1)));
    }

    #[test]
    fn changes_need_a_strong_tag() {
        for (value, expected) in
            [("\"7\"", true), ("W/\"7\"", false), ("\"6\", \"7\"", true), ("*", true), ("7", false)]
        {
            let request = TestRequest::default().insert_header(("if-match", value));
            let request = request.to_http_request();
            assert_eq!(may_change(request.headers(), &EntityTag::new("7")), expected, "{value}");
        }
        let request = TestRequest::default().to_http_request();
        assert!(may_change(request.headers(), &EntityTag::new("7")));
    }

    #[test]
    fn dates_before_1970_and_after_9999_are_omitted() {
        assert_eq!(http_date(0).unwrap(), "Thu, 01 Jan 1970 00:00:00 GMT");
        assert_eq!(http_date(LAST_SECOND).unwrap(), "Fri, 31 Dec 9999 23:59:59 GMT");
        assert_eq!(http_date(LAST_SECOND + 1), None);
        assert_eq!(parse_http_date("Sunday, 06-Nov-94 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(parse_http_date("Sun Nov  6 08:49:37 1994"), Some(784_111_777));
    }
}
