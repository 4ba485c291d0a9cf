//! Parses Azure listings (`EnumerationResults`).

use std::io::BufRead;

use super::defaults::Defaults;
use super::entry::{Bad, Item, Part, Sink, Skipped};
use super::fields;
use super::link::Link;
use super::record::Record;
use super::unpack::Meter;
use super::xml::{NO_LISTING, Piece, Pieces, percent_decoded};
use crate::jobs::error::JobError;
use crate::model::Attributes;

#[derive(Default)]
struct Blob {
    name: Option<String>,
    encoded: bool,
    texts: Attributes<Option<String>>,
    etag: Option<String>,
    old: bool,
    /// Whether the blob is a directory, which accounts with a hierarchical namespace can have.
    directory: bool,
}

/// Reads all pages.
pub(super) fn read<R: BufRead>(
    input: Meter<R>,
    defaults: &Defaults,
    sink: &mut dyn Sink,
) -> Result<(), JobError> {
    let kind = defaults.kind.as_deref();
    let mut pieces = Pieces::new(input);
    let mut path: Vec<String> = Vec::new();
    // A page without a `NextMarker` element doesn't say whether it is the last page.
    let (mut bucket, mut truncated, mut position) = (String::new(), None, 0);
    let (mut part, mut link) = (None, Link::default());
    let mut blob = Blob::default();
    let mut pages = 0;
    loop {
        let piece = match pieces.next() {
            Ok(piece) => piece,
            Err(reason) => return sink.broken(reason),
        };
        match piece {
            Piece::End if pages == 0 => return sink.broken(NO_LISTING.to_owned()),
            Piece::End => return Ok(()),
            Piece::Open(name, attributes) => {
                match (path.len(), name.as_str()) {
                    (0, "EnumerationResults") => {
                        bucket = defaults.bucket.clone().unwrap_or_else(|| container(&attributes));
                    }
                    (0, _) => {
                        return sink.broken(format!("the root element {name} is not a listing"));
                    }
                    (2, "Blob") => blob = Blob::default(),
                    (3, "Name") => blob.encoded = is_encoded(&attributes),
                    _ => {}
                }
                path.push(name);
            }
            Piece::Close(name, text) => {
                path.pop();
                match (path.len(), name.as_str()) {
                    (0, _) => {
                        pages += 1;
                        let truncated: Option<bool> = truncated.take();
                        let part = match part.take() {
                            None | Some(Part::Continued) if truncated.is_none() => {
                                Some(Part::Unended)
                            }
                            part => part,
                        };
                        part.into_iter().for_each(|part| sink.part(part));
                        sink.link(std::mem::take(&mut link));
                        sink.page(&bucket, kind, truncated == Some(true))?;
                    }
                    (1, "Prefix" | "Delimiter") if !text.trim().is_empty() => {
                        part = Some(Part::Filtered);
                    }
                    (1, "Marker") if !text.trim().is_empty() => {
                        part.get_or_insert(Part::Continued);
                        link.token = Some(text);
                    }
                    (1, "NextMarker") => {
                        truncated = Some(!text.trim().is_empty());
                        link.next = Some(text);
                    }
                    (2, "BlobPrefix") => sink.skipped(Skipped::Prefix)?,
                    (2, "Blob") => {
                        position += 1;
                        blob.name.iter().for_each(|name| link.add_key(name));
                        finish(std::mem::take(&mut blob), (&bucket, kind), position, sink)?;
                    }
                    (3, "Name") => blob.name = Some(text),
                    (3, "Snapshot") => blob.old = true,
                    (3, "Deleted") => blob.old |= text.trim() == "true",
                    (3, "IsCurrentVersion") => blob.old |= text.trim() == "false",
                    (4, "ResourceType") => blob.directory = text.trim() == "directory",
                    (4, element) if fields::is_etag(element) => blob.etag = Some(text),
                    (4, element) => {
                        if let Some(attribute) = fields::named(element, fields::azure_element) {
                            blob.texts[attribute] = Some(text);
                        }
                    }
                    _ => {}
                }
            }
        }
    }
}

fn finish(
    blob: Blob,
    (bucket, kind): (&str, Option<&str>),
    position: u64,
    sink: &mut dyn Sink,
) -> Result<(), JobError> {
    if blob.old {
        return sink.skipped(Skipped::Version);
    }
    if blob.directory {
        return sink.skipped(Skipped::DirectoryMarker);
    }
    let name = match &blob.name {
        Some(name) if blob.encoded => Some(percent_decoded(name)),
        name => name.as_ref().map(|name| name.clone().into_bytes()),
    };
    let parsed = || -> Result<(&str, Attributes), String> {
        let name = name.as_ref().ok_or("the field Name is missing")?;
        let path = std::str::from_utf8(name).map_err(|_| "the name is not UTF-8")?;
        let texts = fields::trimmed(&blob.texts);
        Ok((path, fields::read(&texts, fields::azure_element)?))
    };
    let taken = match parsed() {
        Ok((path, attributes)) => {
            let etag = fields::etag(blob.etag.as_deref());
            sink.file(&Item { position, bucket, kind, path, attributes, etag })?
        }
        Err(reason) => Err(reason),
    };
    let Err(reason) = taken else { return Ok(()) };
    let content =
        Record::of(Some(bucket), kind).field("fullPath", name).attributes(&blob.texts).into_line();
    sink.bad(Bad { position, reason, content, is_unclear: false })
}

/// Returns the container's address. Older API versions don't have `ServiceEndpoint` and put the
/// whole address into `ContainerName`.
fn container(attributes: &[(String, String)]) -> String {
    let find = |wanted: &str| {
        let found = attributes.iter().find(|(name, _)| name == wanted);
        found.map(|(_, value)| value.as_str()).unwrap_or_default()
    };
    let name = find("ContainerName");
    if name.contains("://") {
        return name.to_owned();
    }
    format!("{}/{name}", find("ServiceEndpoint").trim_end_matches('/'))
}

fn is_encoded(attributes: &[(String, String)]) -> bool {
    attributes.iter().any(|(name, value)| name == "Encoded" && value == "true")
}
