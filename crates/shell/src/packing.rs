//! Compresses whole bodies.

use std::io::Write as _;

use actix_web::http::header::ContentEncoding;
use actix_web::web::Bytes;
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};

/// Brotli quality for a body that is compressed for a single response. About as fast as gzip's
/// fastest levels.
const QUICK_BROTLI: i32 = 3;
/// Brotli quality for a body that is compressed once for all responses.
const THOROUGH_BROTLI: i32 = 9;

/// Compresses a body for a single response. Returns `None` if the coding isn't supported.
pub(crate) fn quickly(coding: ContentEncoding, plain: &[u8]) -> Option<Bytes> {
    let level = Compression::fast();
    let packed = match coding {
        ContentEncoding::Gzip => gzip(plain, level),
        ContentEncoding::Deflate => {
            let mut encoder = ZlibEncoder::new(Vec::new(), level);
            encoder.write_all(plain).ok()?;
            encoder.finish().ok()
        }
        ContentEncoding::Brotli => brotli(plain, QUICK_BROTLI),
        _ => None,
    };
    packed.map(|mut packed| {
        // Memory accounting counts the length, not the capacity.
        packed.shrink_to_fit();
        Bytes::from(packed)
    })
}

/// Compresses a body once for all responses. Returns `None` if the coding isn't supported or if the
/// result isn't any shorter.
pub(crate) fn thoroughly(coding: ContentEncoding, plain: &[u8]) -> Option<Bytes> {
    let packed = match coding {
        ContentEncoding::Gzip => gzip(plain, Compression::best()),
        ContentEncoding::Brotli => brotli(plain, THOROUGH_BROTLI),
        _ => None,
    };
    packed.filter(|packed| packed.len() < plain.len()).map(Bytes::from)
}

fn gzip(plain: &[u8], level: Compression) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(plain.len() / 4), level);
    encoder.write_all(plain).ok()?;
    encoder.finish().ok()
}

fn brotli(plain: &[u8], quality: i32) -> Option<Vec<u8>> {
    let mut packed = Vec::with_capacity(plain.len() / 4);
    // A window larger than the body would only waste memory.
    let window = (usize::BITS - plain.len().leading_zeros()).clamp(16, 22);
    let parameters = brotli::enc::BrotliEncoderParams {
        quality,
        lgwin: i32::try_from(window).unwrap_or(22),
        size_hint: plain.len(),
        ..Default::default()
    };
    brotli::BrotliCompress(&mut &*plain, &mut packed, &parameters).ok()?;
    Some(packed)
}
