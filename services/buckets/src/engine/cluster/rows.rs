//! Encodes and decodes rows in ClickHouse's `RowBinary` format.

use super::error::ClusterError;
use super::layout::Layout;
use crate::engine::index::NewFile;
use crate::model::{Attribute, extension, fold, path, words};

/// Added to the run number of rows that are marked as changed. Run numbers are always below this
/// value, because a run's number is its first id.
pub(super) const MARK: u64 = 1 << 63;

/// Encodes a file, with its fields in column order.
pub(super) fn encode(
    file: &NewFile,
    id: u64,
    run: u64,
    layout: Layout,
    bytes: &mut Vec<u8>,
) -> Result<(), ClusterError> {
    let (start, end) = path::file_name_span(file.path.as_bytes());
    let place = |number: usize| {
        u16::try_from(number)
            .map_err(|_| ClusterError::Invalid(format!("a path of {} bytes", file.path.len())))
    };
    bytes.extend(id.to_le_bytes());
    bytes.extend(file.bucket.to_le_bytes());
    bytes.extend(file.kind.to_le_bytes());
    let run = if file.is_changed { run | MARK } else { run };
    bytes.extend(run.to_le_bytes());
    text(&file.path, bytes);
    bytes.extend(place(start)?.to_le_bytes());
    bytes.extend(place(end - start)?.to_le_bytes());
    let name = &file.path[start..end];
    text(&padded_words(name), bytes);
    text(&padded_words(&file.path), bytes);
    for attribute in Attribute::ALL {
        bytes.extend(file.attributes[attribute].to_le_bytes());
    }
    let mut suffixes = Vec::new();
    extension::for_each(name, |suffix| suffixes.push(suffix.to_owned()));
    length(suffixes.len(), bytes);
    suffixes.iter().for_each(|suffix| text(suffix, bytes));
    if layout == Layout::Indexed {
        text(&fold::folded_text(name), bytes);
    }
    Ok(())
}

/// Joins the words of a string with spaces and adds a space at both ends. Since words never contain
/// spaces, searching for a phrase becomes a substring search.
pub(super) fn padded_words(value: &str) -> String {
    let mut padded = String::with_capacity(value.len() + 2);
    padded.push(' ');
    words::for_each(value, |word| {
        padded.push_str(word);
        padded.push(' ');
    });
    padded
}

fn text(value: &str, bytes: &mut Vec<u8>) {
    length(value.len(), bytes);
    bytes.extend(value.as_bytes());
}

/// Encodes a length as LEB128.
fn length(mut value: usize, bytes: &mut Vec<u8>) {
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Decodes rows. The caller has to know the columns.
pub(super) struct Rows<'a> {
    rest: &'a [u8],
}

impl<'a> Rows<'a> {
    pub(super) fn of(answer: &'a [u8]) -> Self {
        Self { rest: answer }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn u8(&mut self) -> Result<u8, ClusterError> {
        Ok(self.take::<1>()?[0])
    }

    pub(super) fn u64(&mut self) -> Result<u64, ClusterError> {
        Ok(u64::from_le_bytes(self.take()?))
    }

    pub(super) fn i64(&mut self) -> Result<i64, ClusterError> {
        Ok(i64::from_le_bytes(self.take()?))
    }

    pub(super) fn text(&mut self) -> Result<String, ClusterError> {
        let mut length = 0usize;
        for shift in (0..35).step_by(7) {
            let byte = self.u8()?;
            length |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                let (value, rest) = self.rest.split_at_checked(length).ok_or_else(cut)?;
                self.rest = rest;
                return String::from_utf8(value.to_vec()).map_err(|_| cut());
            }
        }
        Err(cut())
    }

    fn take<const LENGTH: usize>(&mut self) -> Result<[u8; LENGTH], ClusterError> {
        let (value, rest) = self.rest.split_first_chunk().ok_or_else(cut)?;
        self.rest = rest;
        Ok(*value)
    }
}

fn cut() -> ClusterError {
    ClusterError::Invalid("the response cannot be parsed".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Attributes;

    #[test]
    fn words_are_padded_on_all_sides() {
        assert_eq!(padded_words("Resume1-1_x.docx"), " resume1 1 x docx ");
        assert_eq!(padded_words("***"), " ");
    }

    #[test]
    fn rows_round_trip() {
        let path = format!("a/{}.tar.gz", "x".repeat(200));
        let attributes = Attributes::from_fn(|attribute| 4 + attribute as i64);
        let file =
            NewFile { bucket: 2, kind: 3, path: path.clone(), attributes, is_changed: false };
        let mut bytes = Vec::new();
        encode(&file, 1, 9, Layout::Plain, &mut bytes).unwrap();
        let plain = bytes.len();
        encode(&file, 1, 9, Layout::Indexed, &mut bytes).unwrap();
        assert_eq!(
            bytes.split_off(plain).len(),
            plain + 2 + 207,
            "the folded name is the last one"
        );
        let mut rows = Rows::of(&bytes);
        let numbers: Vec<u64> = (0..4).map(|_| rows.u64().unwrap()).collect();
        assert_eq!(numbers, [1, 2, 3, 9]);
        assert_eq!(rows.text().unwrap(), path);
        let span: [u8; 4] = rows.take().unwrap();
        assert_eq!(span, [2, 0, 207, 0]);
        assert_eq!(rows.text().unwrap(), format!(" {} tar gz ", "x".repeat(200)));
        assert_eq!(rows.text().unwrap(), format!(" a {} tar gz ", "x".repeat(200)));
        assert_eq!((rows.i64().unwrap(), rows.i64().unwrap()), (4, 5));
        assert_eq!(rows.u8().unwrap(), 2);
        assert_eq!((rows.text().unwrap(), rows.text().unwrap()), ("gz".into(), "tar.gz".into()));
        assert!(rows.is_at_end());
        assert!(rows.u8().is_err());
    }

    #[test]
    fn marked_row_differs_in_its_run() {
        let attributes = Attributes::from_fn(|_| 1);
        let file =
            NewFile { bucket: 2, kind: 3, path: "a".to_owned(), attributes, is_changed: true };
        let encoded = |file: &NewFile| {
            let mut bytes = Vec::new();
            encode(file, 1, 9, Layout::Plain, &mut bytes).unwrap();
            bytes
        };
        let (marked, plain) = (encoded(&file), encoded(&NewFile { is_changed: false, ..file }));
        assert_eq!((&marked[..24], &marked[32..]), (&plain[..24], &plain[32..]));
        let run = |bytes: &[u8]| u64::from_le_bytes(bytes[24..32].try_into().unwrap());
        assert_eq!((run(&marked), run(&plain)), (9 | MARK, 9));
    }

    #[test]
    fn truncated_response_is_error() {
        assert!(Rows::of(&[5, b'a']).text().is_err());
        assert!(Rows::of(&[0xff; 9]).text().is_err());
        assert!(Rows::of(&[1, 2]).u64().is_err());
    }
}
