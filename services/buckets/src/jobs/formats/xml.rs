//! Streaming parser for XML listings.
//!
//! DTDs and custom entities aren't supported.

use std::io::BufRead;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::unpack::Meter;

/// Maximum nesting depth.
const DEEPEST: usize = 32;

/// Maximum length of an element's text, in bytes. This is plenty, as paths have at most 4,096
/// bytes.
const LONGEST_TEXT: usize = 1 << 20;
/// Maximum length of an element or attribute name, in bytes.
const LONGEST_NAME: usize = 1_024;

/// Error for sources without any elements, such as an empty response.
pub(super) const NO_LISTING: &str = "the source is not a listing";

/// A parsing event. Names don't include namespace prefixes.
#[derive(Debug)]
pub(super) enum Piece {
    /// Start of an element, with its attributes.
    Open(String, Vec<(String, String)>),
    /// End of an element, with the text that follows its last child.
    Close(String, String),
    /// End of the source.
    End,
}

/// Reads an XML listing.
pub(super) struct Pieces<R: BufRead> {
    reader: Reader<Meter<R>>,
    buffer: Vec<u8>,
    texts: Vec<(String, String)>,
    pending_close: bool,
}

impl<R: BufRead> Pieces<R> {
    pub(super) fn new(input: Meter<R>) -> Self {
        let mut reader = Reader::from_reader(input);
        let config = reader.config_mut();
        config.check_end_names = true;
        config.expand_empty_elements = false;
        Self { reader, buffer: Vec::new(), texts: Vec::new(), pending_close: false }
    }

    /// Returns the next event, or a description of the problem with the source.
    pub(super) fn next(&mut self) -> Result<Piece, String> {
        if self.pending_close {
            self.pending_close = false;
            return self.close();
        }
        loop {
            self.buffer.clear();
            self.reader.get_mut().reset();
            let event = self.reader.read_event_into(&mut self.buffer);
            let event = event.map_err(|error| format!("malformed XML: {error}"))?;
            let empty = matches!(event, Event::Empty(_));
            match event {
                Event::Start(start) | Event::Empty(start) => {
                    if self.texts.len() >= DEEPEST {
                        return Err("malformed XML: elements are nested too deeply".to_owned());
                    }
                    let name = local_name(start.name().local_name().as_ref())?;
                    let attributes = attributes(&start)?;
                    // Only elements without children need their text.
                    if let Some((_, text)) = self.texts.last_mut() {
                        text.clear();
                    }
                    self.texts.push((name.clone(), String::new()));
                    self.pending_close = empty;
                    return Ok(Piece::Open(name, attributes));
                }
                Event::End(_) => return self.close(),
                Event::Text(text) => {
                    let text = text.decode().map_err(|_| NOT_UTF8.to_owned())?;
                    append(&mut self.texts, &text)?;
                }
                Event::CData(data) => {
                    let text = std::str::from_utf8(&data).map_err(|_| NOT_UTF8.to_owned())?;
                    append(&mut self.texts, text)?;
                }
                Event::GeneralRef(reference) => {
                    let text = resolved(&reference)?;
                    append(&mut self.texts, &text)?;
                }
                Event::DocType(_) => {
                    return Err("malformed XML: document types are not allowed".to_owned());
                }
                Event::Eof if self.texts.is_empty() => return Ok(Piece::End),
                Event::Eof => {
                    return Err("malformed XML: the file ends inside an element".to_owned());
                }
                Event::Decl(_) | Event::PI(_) | Event::Comment(_) => {}
            }
        }
    }

    fn close(&mut self) -> Result<Piece, String> {
        let (name, text) =
            self.texts.pop().ok_or_else(|| "malformed XML: unexpected end tag".to_owned())?;
        Ok(Piece::Close(name, text))
    }
}

const OUTSIDE: &str = "malformed XML: there is text outside the listing";
const NOT_UTF8: &str = "malformed XML: not UTF-8";

fn append(texts: &mut [(String, String)], text: &str) -> Result<(), String> {
    let Some((name, open)) = texts.last_mut() else {
        // The message of a program that failed can follow a page.
        let is_blank = text.trim_matches('\u{feff}').trim().is_empty();
        return if is_blank { Ok(()) } else { Err(OUTSIDE.to_owned()) };
    };
    if open.len() + text.len() > LONGEST_TEXT {
        return Err(format!("malformed XML: the text of {name} is longer than 1 MiB"));
    }
    open.push_str(text);
    Ok(())
}

fn local_name(name: &[u8]) -> Result<String, String> {
    if name.len() > LONGEST_NAME {
        return Err("malformed XML: a name is longer than 1024 bytes".to_owned());
    }
    String::from_utf8(name.to_vec()).map_err(|_| NOT_UTF8.to_owned())
}

fn attributes(start: &BytesStart<'_>) -> Result<Vec<(String, String)>, String> {
    let mut attributes = Vec::new();
    for attribute in start.attributes().take(32) {
        let attribute = attribute.map_err(|error| format!("malformed XML: {error}"))?;
        let value = attribute
            .normalized_value(XmlVersion::default())
            .map_err(|error| format!("malformed XML: {error}"))?
            .into_owned();
        attributes.push((local_name(attribute.key.local_name().as_ref())?, value));
    }
    Ok(attributes)
}

fn resolved(reference: &quick_xml::events::BytesRef<'_>) -> Result<String, String> {
    let symbol = reference.resolve_char_ref().map_err(|error| format!("malformed XML: {error}"))?;
    if let Some(symbol) = symbol {
        return Ok(symbol.to_string());
    }
    let name = reference.decode().map_err(|_| NOT_UTF8.to_owned())?;
    match quick_xml::escape::resolve_predefined_entity(&name) {
        Some(text) => Ok(text.to_owned()),
        None => Err(format!("malformed XML: unknown entity {name}")),
    }
}

/// Decodes percent-encoding. The result isn't necessarily UTF-8.
pub(super) fn percent_decoded(text: &str) -> Vec<u8> {
    percent_encoding::percent_decode_str(text).collect()
}
