//! Strips metadata from images: location, camera, time, author, comments.

use std::ops::Range;

use super::image::Format;

/// EXIF orientation of an image that doesn't need rotating.
const UPRIGHT: u16 = 1;

/// An image without its metadata.
pub struct Stripped {
    pub bytes: Vec<u8>,
    /// EXIF orientation, unless the image is upright.
    turned: Option<u16>,
}

impl Stripped {
    /// Returns whether the image is shown with its width and height exchanged.
    pub fn is_sideways(&self) -> bool {
        self.turned.is_some_and(|turn| turn > 4)
    }
}

/// Strips an image's metadata. Returns `None` if the image can't be parsed, has no picture or is
/// truncated. The orientation is kept, because browsers would otherwise show photos sideways.
pub fn stripped(bytes: &[u8], format: Format) -> Option<Stripped> {
    let mut turned = None;
    let bytes = match format {
        Format::Jpeg => jpeg(bytes, &mut turned),
        Format::Png => png(bytes, &mut turned),
        Format::Gif => gif(bytes),
        Format::Webp => webp(bytes, &mut turned),
    };
    Some(Stripped { bytes: bytes?, turned })
}

fn big(bytes: &[u8], at: usize) -> Option<usize> {
    let pair: [u8; 2] = bytes.get(at..at.checked_add(2)?)?.try_into().ok()?;
    Some(usize::from(u16::from_be_bytes(pair)))
}

fn jpeg(bytes: &[u8], turned: &mut Option<u16>) -> Option<Vec<u8>> {
    const START_OF_SCAN: u8 = 0xda;
    const END: [u8; 2] = [0xff, 0xd9];
    let mut out = bytes.strip_prefix(b"\xff\xd8").map(|_| b"\xff\xd8".to_vec())?;
    let mut at = 2;
    let (mut is_shown, mut has_exif, mut has_end) = (false, false, false);
    while let Some((marker, segment)) = segment(bytes, at) {
        at = segment.end;
        if marker == END[1] {
            has_end = true;
            break;
        }
        let segment = bytes.get(segment)?;
        let content = segment.get(4..)?;
        match marker {
            0xe1 => {
                let tiff = content.strip_prefix(b"Exif\0\0").filter(|_| !has_exif);
                has_exif |= tiff.is_some();
                if let Some(turn) = tiff.and_then(orientation) {
                    *turned = Some(turn);
                    let exif = [&b"Exif\0\0"[..], &exif(turn)].concat();
                    out.extend([0xff, 0xe1]);
                    out.extend(u16::try_from(exif.len() + 2).ok()?.to_be_bytes());
                    out.extend(exif);
                }
            }
            // APP2: keep colour profiles, but drop embedded images (MPF) and their offsets.
            0xe2 if !content.starts_with(b"ICC_PROFILE\0") => {}
            // Drop comments and application segments, except for JFIF and Adobe.
            0xe3..=0xed | 0xef | 0xfe => {}
            _ => out.extend(segment),
        }
        if marker == START_OF_SCAN {
            is_shown = true;
            let from = at;
            // Within a scan, 0xff is followed by 0 or a restart marker.
            while let Some(&byte) = bytes.get(at) {
                if byte == 0xff && !matches!(bytes.get(at + 1), None | Some(0 | 0xd0..=0xd7)) {
                    break;
                }
                at += 1;
            }
            out.extend(bytes.get(from..at)?);
        }
    }
    out.extend(END);
    (is_shown && has_end).then_some(out)
}

/// Finds the next JPEG segment, if any. Decoders skip bytes between segments.
fn segment(bytes: &[u8], mut at: usize) -> Option<(u8, Range<usize>)> {
    loop {
        match (*bytes.get(at)?, *bytes.get(at + 1)?) {
            // End of image.
            (0xff, marker @ 0xd9) => return Some((marker, at..at + 2)),
            // Byte stuffing, fill bytes, and markers without a length.
            (0xff, 0 | 1 | 0xd0..=0xd7 | 0xff) => at += 1,
            (0xff, marker) => {
                let end = at + 2 + big(bytes, at + 2)?;
                return (end <= bytes.len()).then_some((marker, at..end));
            }
            _ => at += 1,
        }
    }
}

/// Reads the orientation from a TIFF header. Returns `None` if it is upright or missing, or the
/// header is invalid.
fn orientation(tiff: &[u8]) -> Option<u16> {
    let little = match tiff.get(..2)? {
        b"II" => true,
        b"MM" => false,
        _ => return None,
    };
    let short = |at: usize| -> Option<u16> {
        let pair: [u8; 2] = tiff.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(if little { u16::from_le_bytes(pair) } else { u16::from_be_bytes(pair) })
    };
    let four: [u8; 4] = tiff.get(4..8)?.try_into().ok()?;
    let first = if little { u32::from_le_bytes(four) } else { u32::from_be_bytes(four) };
    let first = usize::try_from(first).ok()?;
    (0..usize::from(short(first)?))
        .filter_map(|entry| first.checked_add(2 + 12 * entry))
        .find(|at| short(*at) == Some(0x0112))
        .and_then(|at| short(at + 8))
        .filter(|turn| (1..=8).contains(turn) && *turn != UPRIGHT)
}

/// Writes a TIFF header that contains only an orientation.
fn exif(turn: u16) -> Vec<u8> {
    let mut tiff = b"MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01".to_vec();
    tiff.extend(turn.to_be_bytes());
    tiff.extend([0; 6]);
    tiff
}

/// Calculates the checksum of a PNG chunk: CRC-32, bit by bit, because the chunk is short.
fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| match sum & 1 {
            1 => (sum >> 1) ^ 0xedb8_8320,
            _ => sum >> 1,
        })
    })
}

fn png(bytes: &[u8], turned: &mut Option<u16>) -> Option<Vec<u8>> {
    const DROPPED: [&[u8]; 5] = [b"eXIf", b"iTXt", b"tEXt", b"tIME", b"zTXt"];
    let (head, mut rest) = bytes.split_at_checked(8)?;
    let mut out = head.to_vec();
    let (mut has_picture, mut has_end) = (false, false);
    while let Some(four) = rest.first_chunk::<4>() {
        let length = usize::try_from(u32::from_be_bytes(*four)).ok()?;
        let (chunk, behind) = rest.split_at_checked(length.checked_add(12)?)?;
        let name = chunk.get(4..8)?;
        has_picture |= name == b"IDAT";
        if !DROPPED.contains(&name) {
            out.extend(chunk);
        }
        let tiff = chunk.get(8..).filter(|_| name == b"eXIf" && turned.is_none());
        if let Some(turn) = tiff.and_then(orientation) {
            *turned = Some(turn);
            let exif = [&b"eXIf"[..], &exif(turn)].concat();
            out.extend(u32::try_from(exif.len() - 4).ok()?.to_be_bytes());
            out.extend(&exif);
            out.extend(checksum(&exif).to_be_bytes());
        }
        if name == b"IEND" {
            has_end = true;
            break;
        }
        rest = behind;
    }
    (has_picture && has_end).then_some(out)
}

fn webp(bytes: &[u8], turned: &mut Option<u16>) -> Option<Vec<u8>> {
    const EXIF: u8 = 0x08;
    const XMP: u8 = 0x04;
    let mut out = bytes.get(..12)?.to_vec();
    let size: [u8; 4] = bytes.get(4..8)?.try_into().ok()?;
    let end = usize::try_from(u32::from_le_bytes(size)).ok()?.checked_add(8)?;
    let mut rest = bytes.get(12..end)?;
    let (mut flags, mut turn, mut has_picture) = (None, None, false);
    while !rest.is_empty() {
        let four: [u8; 4] = rest.get(4..8)?.try_into().ok()?;
        let length = usize::try_from(u32::from_le_bytes(four)).ok()?;
        let unpadded = length.checked_add(8)?;
        // Some programs omit the final padding byte.
        let end =
            if unpadded == rest.len() { unpadded } else { unpadded.checked_add(length % 2)? };
        let (chunk, behind) = rest.split_at_checked(end)?;
        match chunk.get(..4)? {
            b"EXIF" => {
                let content = chunk.get(8..)?;
                let tiff = content.strip_prefix(b"Exif\0\0").unwrap_or(content);
                turn = turn.or(orientation(tiff));
            }
            b"XMP " => {}
            name => {
                has_picture |= [b"VP8 ", b"VP8L", b"ANMF"].iter().any(|one| name == *one);
                if name == b"VP8X" {
                    flags = Some(out.len() + 8);
                }
                out.extend(chunk);
                out.extend((chunk.len() % 2 == 1).then_some(0));
            }
        }
        rest = behind;
    }
    if let Some(at) = flags {
        let flags = out.get_mut(at)?;
        *flags &= !(EXIF | XMP);
        *turned = turn;
        if let Some(turn) = turn {
            *flags |= EXIF;
            let exif = exif(turn);
            out.extend(b"EXIF");
            out.extend(u32::try_from(exif.len()).ok()?.to_le_bytes());
            out.extend(exif);
        }
    }
    let size = u32::try_from(out.len() - 8).ok()?;
    out.get_mut(4..8)?.copy_from_slice(&size.to_le_bytes());
    has_picture.then_some(out)
}

fn gif(bytes: &[u8]) -> Option<Vec<u8>> {
    let colours = |flags: u8| if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 7) + 1) };
    let mut at = 13 + colours(*bytes.get(10)?);
    let mut out = bytes.get(..at)?.to_vec();
    let mut has_picture = false;
    loop {
        let from = at;
        let mut is_dropped = false;
        match bytes.get(at) {
            // An extension, such as a comment or application metadata.
            Some(0x21) => {
                let is_xmp = bytes.get(at + 3..at + 11) == Some(&b"XMP Data"[..]);
                is_dropped = bytes.get(at + 1) == Some(&0xfe) || is_xmp;
                at += 2;
            }
            // An image, with its local colour table and the code size byte.
            Some(0x2c) => {
                has_picture = true;
                at += 11 + colours(*bytes.get(at + 9)?);
            }
            // The trailer.
            Some(0x3b) if has_picture => {
                out.push(0x3b);
                return Some(out);
            }
            _ => return None,
        }
        // Data blocks, each preceded by its length.
        loop {
            let length = usize::from(*bytes.get(at)?);
            at += 1 + length;
            if length == 0 {
                break;
            }
        }
        let block = bytes.get(from..at)?;
        if !is_dropped {
            out.extend(block);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the bytes that remain.
    fn bare(bytes: &[u8], format: Format) -> Option<Vec<u8>> {
        stripped(bytes, format).map(|stripped| stripped.bytes)
    }

    /// Builds a TIFF header with an orientation, and a GPS position that must be removed.
    fn tiff(turn: u16, little: bool) -> Vec<u8> {
        let mut tiff = if little {
            b"II\x2a\0\x08\0\0\0\x02\0".to_vec()
        } else {
            b"MM\0\x2a\0\0\0\x08\0\x02".to_vec()
        };
        let short = |value: u16| if little { value.to_le_bytes() } else { value.to_be_bytes() };
        let long = |value: u32| if little { value.to_le_bytes() } else { value.to_be_bytes() };
        for (tag, value) in [(0x0112, turn), (0x8825, 7)] {
            tiff.extend(short(tag));
            tiff.extend(short(3));
            tiff.extend(long(1));
            tiff.extend(short(value));
            tiff.extend([0; 2]);
        }
        tiff.extend(b"GPS 48.2082N");
        tiff
    }

    fn segment(marker: u8, content: &[u8]) -> Vec<u8> {
        let length = u16::try_from(content.len() + 2).unwrap().to_be_bytes();
        [&[0xff, marker][..], &length, content].concat()
    }

    fn has(bytes: &[u8], text: &[u8]) -> bool {
        bytes.windows(text.len()).any(|part| part == text)
    }

    #[test]
    fn jpeg_keeps_image_colours_and_orientation_only() {
        let scan = b"\x12\xff\x00\x34\xff\xd0\x56";
        for (turn, little) in [(1, true), (6, true), (8, false)] {
            let kept = [
                segment(0xe0, b"JFIF\0"),
                segment(0xe2, b"ICC_PROFILE\0colours"),
                segment(0xdb, b"tables"),
            ];
            let exif = [&b"Exif\0\0"[..], &tiff(turn, little)].concat();
            let file = [
                b"\xff\xd8".to_vec(),
                kept[0].clone(),
                segment(0xe1, &exif),
                segment(0xe1, b"http://ns.adobe.com/xap/1.0/\0GPS"),
                segment(0xed, b"Photoshop GPS"),
                segment(0xfe, b"GPS comment"),
                segment(0xe2, b"MPF\0GPS"),
                kept[1].clone(),
                kept[2].clone(),
                segment(0xda, b"scan"),
                scan.to_vec(),
                b"\xff\xd9GPS behind the end".to_vec(),
            ]
            .concat();
            let small = bare(&file, Format::Jpeg).unwrap();
            assert!(!has(&small, b"GPS"), "{turn}");
            assert!(kept.iter().all(|part| has(&small, part)) && has(&small, scan));
            assert!(small.ends_with(b"\x56\xff\xd9"));
            let found = small.windows(6).position(|part| part == b"Exif\0\0");
            let turned = found.and_then(|at| orientation(&small[at + 6..]));
            assert_eq!(turned, (turn != 1).then_some(turn));
            assert_eq!(stripped(&file, Format::Jpeg).unwrap().is_sideways(), turn > 4);
            assert_eq!(bare(&small, Format::Jpeg).unwrap(), small);
        }
        assert_eq!(bare(b"\xff\xd8\xff\xe0\0\x10JF", Format::Jpeg), None);
    }

    #[test]
    fn png_webp_and_gif_lose_their_metadata() {
        let chunk = |name: &[u8], content: &[u8]| {
            let length = u32::try_from(content.len()).unwrap().to_be_bytes();
            [&length[..], name, content, b"crc!"].concat()
        };
        let (head, data, end) =
            (chunk(b"IHDR", b"h"), chunk(b"IDAT", b"data"), chunk(b"IEND", b""));
        let signature = b"\x89PNG\r\n\x1a\n".to_vec();
        let file = [
            signature.clone(),
            head.clone(),
            chunk(b"eXIf", &tiff(6, true)),
            chunk(b"tEXt", b"GPS"),
            data.clone(),
            end.clone(),
            b"GPS".to_vec(),
        ]
        .concat();
        // The checksum is the one that zlib calculates.
        let turned = [&b"\0\0\0\x1aeXIf"[..], &exif(6), b"\xd6\x67\x4b\x69"].concat();
        let turned = [signature, head, turned, data, end].concat();
        assert_eq!(bare(&file, Format::Png).unwrap(), turned);
        assert!(stripped(&turned, Format::Png).unwrap().is_sideways());
        assert_eq!(bare(&turned, Format::Png).unwrap(), turned);
        let picture = [chunk(b"IDAT", b"data"), chunk(b"IEND", b"")].concat();
        let upright = [&turned[..8], &chunk(b"eXIf", &tiff(1, true)), &picture].concat();
        assert!(!stripped(&upright, Format::Png).unwrap().is_sideways());

        let riff = |flags: u8, more: &[Vec<u8>]| {
            let part = |name: &[u8], content: &[u8]| {
                let length = u32::try_from(content.len()).unwrap().to_le_bytes();
                let padding = vec![0; content.len() % 2];
                [&length[..0], name, &length, content, &padding].concat()
            };
            let mut parts = part(b"VP8X", &[flags, 0, 0, 0, 1, 0, 0, 1, 0, 0]);
            parts.extend(part(b"VP8L", b"odd"));
            more.iter().for_each(|content| parts.extend(part(&content[..4], &content[4..])));
            let size = u32::try_from(parts.len() + 4).unwrap().to_le_bytes();
            [&b"RIFF"[..], &size, b"WEBP", &parts].concat()
        };
        let with = |turn: u16| [[&b"EXIF"[..], &tiff(turn, true)].concat(), b"XMP GPS".to_vec()];
        assert_eq!(bare(&riff(0x1c, &with(1)), Format::Webp).unwrap(), riff(0x10, &[]));
        let turned = [&b"EXIF"[..], &exif(6)].concat();
        let small = bare(&riff(0x1c, &with(6)), Format::Webp).unwrap();
        assert_eq!(small, riff(0x18, &[turned]));

        let image = b"\x2c\0\0\0\0\x01\0\x01\0\0\x02\x02ab\0";
        let gif =
            |more: &[u8]| [&b"GIF89a\x01\0\x01\0\x80\0\0rgbRGB"[..], more, image, b";"].concat();
        let xmp = b"\x21\xff\x0bXMP DataXMP\x03GPS\0";
        let file =
            gif(&[&b"\x21\xfe\x03GPS\0"[..], xmp, b"\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0"]
                .concat());
        let kept = gif(b"\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0");
        assert_eq!(bare(&file, Format::Gif).unwrap(), kept);
        assert_eq!(bare(b"GIF89a", Format::Gif), None);
    }

    #[test]
    fn metadata_is_removed_from_files_with_unusual_ends() {
        let exif = segment(0xe1, &[&b"Exif\0\0"[..], &tiff(1, true)].concat());
        let scan = [segment(0xda, b"scan"), b"\x12\xff\0\x34".to_vec()].concat();
        let plain = [&b"\xff\xd8"[..], &scan].concat();
        let jpeg = |end: &[u8]| [b"\xff\xd8\0", &exif[..], b"\0", &scan, end].concat();
        for end in [&b"\xff\xd9"[..], b"\xff\xff\xd9", b"\xff\xd9GPS"] {
            let small = bare(&jpeg(end), Format::Jpeg).unwrap();
            assert!(small.starts_with(&plain) && small.ends_with(b"\xff\xd9"), "{end:?}");
            assert!(!has(&small, b"GPS"), "{end:?}");
        }

        let webp = |size: u8, more: &[u8]| {
            [&b"RIFF"[..], &[size, 0, 0, 0], b"WEBPVP8L\x03\0\0\0odd\0", more].concat()
        };
        let exif = b"EXIF\x03\0\0\0GPS";
        for file in [webp(27, exif), webp(16, b"\0"), webp(16, b"GPS"), webp(15, b"")] {
            assert_eq!(bare(&file, Format::Webp).unwrap(), webp(16, b""), "{file:?}");
        }

        let start = b"GIF89a\x01\0\x01\0\0\0\0\x2c\0\0\0\0\x01\0\x01\0\0\x02\x02ab\0";
        for end in [&b"\x21\xfe\x03GPS\0;"[..], b";", b";GPS"] {
            let small = bare(&[start, end].concat(), Format::Gif).unwrap();
            assert_eq!(small, [&start[..], b";"].concat());
        }

        let png = |more: &[u8]| [&b"\x89PNG\r\n\x1a\n\0\0\0\0IHDRcrc!"[..], more].concat();
        // Truncated images, and images without a picture.
        for (format, file) in [
            (Format::Jpeg, jpeg(b"")),
            (Format::Jpeg, jpeg(b"\xff")),
            (Format::Jpeg, jpeg(b"\xff\xc4\0\x09GPS")),
            (Format::Jpeg, b"\xff\xd8\xff\xdb\0\x03a\xff\xd9".to_vec()),
            (Format::Png, png(b"")),
            (Format::Png, png(b"\0\0\0\0IENDcrc!")),
            (Format::Png, png(b"\0\0\0\x04IDATdatacrc!")),
            (Format::Png, png(b"\0\0\0\x04IDATdatacrc!\0\0\0\0IEND")),
            (Format::Webp, webp(27, &exif[..9])),
            (Format::Webp, b"RIFF\x0f\0\0\0WEBPEXIF\x03\0\0\0GPS".to_vec()),
            (Format::Gif, start.to_vec()),
            (Format::Gif, [&start[..], b"\0GPS"].concat()),
            (Format::Gif, b"GIF89a/*\x01\0\0\0\0;*/=1;alert(1)".to_vec()),
        ] {
            assert_eq!(bare(&file, format), None, "{format:?} {file:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_parsed_without_panic(bytes: Vec<u8>) {
            for (format, start) in [
                (Format::Jpeg, &b"\xff\xd8\xff"[..]),
                (Format::Png, b"\x89PNG\r\n\x1a\n"),
                (Format::Gif, b"GIF89a"),
                (Format::Webp, b"RIFF\xff\0\0\0WEBP"),
            ] {
                let file = [start, &bytes].concat();
                if let Some(once) = bare(&file, format) {
                    proptest::prop_assert!(once.len() <= file.len() + 64);
                }
            }
        }
    }
}
