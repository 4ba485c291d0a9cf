//! Static response bodies, compressed once, shared between requests and revalidated by digest.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::OnceLock;

use actix_web::http::header::{
    self, AcceptEncoding, ContentEncoding, Encoding, EntityTag, Header, HeaderValue, IfNoneMatch,
};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use sha2::{Digest, Sha256};

use super::headers::protect;
use crate::packing;

/// Minimum body length for compression, in bytes.
const SHORTEST_COMPRESSED: usize = 512;

/// Content with its digest and its compressed variants, which are created on first use.
pub(crate) struct Content {
    media_type: Cow<'static, str>,
    digest: String,
    plain: Bytes,
    gzip: OnceLock<Option<Bytes>>,
    brotli: OnceLock<Option<Bytes>>,
}

impl Content {
    pub(crate) fn new(media_type: impl Into<Cow<'static, str>>, content: impl Into<Bytes>) -> Self {
        let plain = content.into();
        let digest = Sha256::digest(&plain)[..8].iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        Self {
            media_type: media_type.into(),
            digest,
            plain,
            gzip: OnceLock::new(),
            brotli: OnceLock::new(),
        }
    }

    /// Returns the first 16 hex digits of the content's SHA-256.
    pub(super) fn digest(&self) -> &str {
        &self.digest
    }

    /// Responds with 200, or 304 if the client already has the content.
    pub(crate) fn respond(
        &self,
        request: &HttpRequest,
        caching: &'static str,
        add: fn(&mut HttpResponseBuilder),
    ) -> HttpResponse {
        let (body, coding) = self.form_for(request);
        // A strong entity tag has to differ between content codings.
        let tag = match coding {
            Some(coding) => EntityTag::new_strong(format!("{}-{coding}", self.digest)),
            None => EntityTag::new_strong(self.digest.clone()),
        };
        let known = match IfNoneMatch::parse(request) {
            Ok(IfNoneMatch::Any) => true,
            Ok(IfNoneMatch::Items(tags)) => tags.iter().any(|known| known.weak_eq(&tag)),
            Err(_) => false,
        };
        let mut response = if known { HttpResponse::NotModified() } else { HttpResponse::Ok() };
        response
            .insert_header((header::CACHE_CONTROL, HeaderValue::from_static(caching)))
            .insert_header((header::ETAG, tag.to_string()))
            .insert_header((header::VARY, HeaderValue::from_static("Accept-Encoding")))
            .insert_header((header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")));
        add(&mut response);
        if known {
            return response.finish();
        }
        if let Some(coding) = coding {
            response.insert_header((header::CONTENT_ENCODING, HeaderValue::from_static(coding)));
        }
        response.content_type(&*self.media_type).body(body.clone())
    }

    /// Picks the variant that the client prefers. Returns it with its content coding, or with
    /// `None` if it is uncompressed.
    fn form_for(&self, request: &HttpRequest) -> (&Bytes, Option<&'static str>) {
        if self.plain.len() < SHORTEST_COMPRESSED {
            return (&self.plain, None);
        }
        let supported = [Encoding::identity(), Encoding::brotli(), Encoding::gzip()];
        let accepted = AcceptEncoding::parse(request).ok();
        let preferred = accepted.as_ref().and_then(|accepted| accepted.negotiate(supported.iter()));
        let (packed, coding) = match preferred {
            Some(Encoding::Known(coding @ ContentEncoding::Brotli)) => (&self.brotli, coding),
            Some(Encoding::Known(coding @ ContentEncoding::Gzip)) => (&self.gzip, coding),
            _ => return (&self.plain, None),
        };
        match packed.get_or_init(|| packing::thoroughly(coding, &self.plain)) {
            Some(body) => (body, Some(coding.as_str())),
            None => (&self.plain, None),
        }
    }
}

/// A style sheet, script or image whose URL contains its digest.
pub(super) struct Asset {
    /// The file name in the service's code, e.g. `check.js`.
    pub(super) name: &'static str,
    /// The file name in URLs, e.g. `check.0123456789abcdef.js`.
    pub(super) file: String,
    content: Content,
}

impl Asset {
    pub(super) fn new(name: &'static str, content: impl Into<Bytes>) -> Self {
        let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
        let media_type = match extension {
            "css" => "text/css; charset=utf-8",
            "js" => "text/javascript; charset=utf-8",
            "svg" => "image/svg+xml",
            "png" => "image/png",
            "webp" => "image/webp",
            _ => "application/octet-stream",
        };
        let content = Content::new(media_type, content);
        let file = format!("{stem}.{}.{extension}", content.digest());
        Self { name, file, content }
    }

    pub(super) fn respond(&self, request: &HttpRequest) -> HttpResponse {
        self.content.respond(request, "public, max-age=31536000, immutable", |_| {})
    }
}

/// A page that is rendered once because it is the same for all clients.
pub struct FixedPage(Content);

impl FixedPage {
    pub(super) fn new(html: String) -> Self {
        Self(Content::new("text/html; charset=utf-8", html))
    }

    /// Responds with the page, or with 304 if the client already has it.
    pub fn respond(&self, request: &HttpRequest) -> HttpResponse {
        self.0.respond(request, "no-cache", protect)
    }
}
