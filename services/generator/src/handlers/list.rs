//! Lists of generated values, in a format that the client accepts.

use actix_web::HttpRequest;
use actix_web::body::BoxBody;
use actix_web::http::header::ACCEPT;
use serde::Serialize;
use shell::{Fault, is_head};

use super::chunks::{self, Begun, Chunks};
use crate::metrics::{Kind, Tally};
use crate::wire::{Book, Extent, Form, Record, push_row};

/// The slice of a list to send, its format, and the kind of values.
#[derive(Clone, Copy)]
pub struct Span {
    kind: Kind,
    form: Form,
    /// Whether to generate and send the values. False for `HEAD`.
    is_sent: bool,
    count: usize,
    extent: Extent,
}

impl Span {
    /// Creates the span for a list of `count` values, in a format that the client accepts.
    pub fn of(request: &HttpRequest, kind: Kind, count: usize, extent: Extent) -> Self {
        Self { kind, form: form(request), is_sent: !is_head(request), count, extent }
    }
}

/// A list that's ready to send.
pub struct Sent {
    pub form: Form,
    pub body: BoxBody,
}

/// A list whose values are generated as the response is sent.
pub struct Made<F> {
    pub form: Form,
    /// Appends the next value. Returns false after the last one. `None` for `HEAD`.
    pub chunks: Option<F>,
}

impl<F: FnMut(&mut Vec<u8>) -> bool + Unpin + 'static> Made<F> {
    /// Responds without taking up one of the caller's stream slots.
    ///
    /// # Errors
    /// Returns an error if the values do not fit into a workbook.
    pub fn whole(self) -> Result<Sent, Fault> {
        let form = self.form;
        let Some(next) = self.chunks else { return Ok(Sent { form, body: chunks::unmade() }) };
        let body = match Chunks::new(next).begin() {
            Begun::Whole(whole) if whole.is_empty() && form == Form::Xlsx => {
                return Err(Fault::Internal("a list does not fit into a workbook".to_owned()));
            }
            Begun::Whole(whole) => BoxBody::new(whole),
            Begun::More(chunks) => BoxBody::new(chunks),
        };
        Ok(Sent { form, body })
    }
}

/// Prepares a list of strings. `make` appends each one to an empty string. `column` is the CSV
/// column name.
pub fn texts(
    span: Span,
    column: &'static str,
    mut make: impl FnMut(u64, &mut String) + Unpin + 'static,
) -> Made<impl FnMut(&mut Vec<u8>) -> bool + Unpin + 'static> {
    let mut item = String::new();
    made(span, column, move |index, target| {
        item.clear();
        make(index, &mut item);
        match target {
            Target::Csv(out) => push_row([item.as_str()], out),
            Target::Json(out) => push_json(&item, out),
            Target::Book(book) => book.push([(item.as_str(), false)].into_iter())?,
        }
        Ok(())
    })
}

/// Prepares a list of records.
pub fn records<R: Record + Serialize>(
    span: Span,
    mut make: impl FnMut(u64) -> R + Unpin + 'static,
) -> Made<impl FnMut(&mut Vec<u8>) -> bool + Unpin + 'static> {
    let columns = R::COLUMNS;
    made(span, columns, move |index, target| {
        let item = make(index);
        match target {
            Target::Csv(out) => push_row(item.cells().iter().map(|cell| &**cell), out),
            Target::Json(out) => push_json(&item, out),
            Target::Book(book) => push_cells(&item, book)?,
        }
        Ok(())
    })
}

/// The output for a value.
enum Target<'a> {
    /// A JSON or NDJSON body.
    Json(&'a mut Vec<u8>),
    /// A CSV body.
    Csv(&'a mut Vec<u8>),
    /// The sheet of a workbook.
    Book(&'a mut Book),
}

fn made(
    span: Span,
    columns: impl Columns,
    mut push: impl FnMut(u64, Target<'_>) -> anyhow::Result<()> + Unpin + 'static,
) -> Made<impl FnMut(&mut Vec<u8>) -> bool + Unpin + 'static> {
    let form = span.form;
    let mut tally = Tally::new(span.kind);
    let mut made = 0;
    let next = move |out: &mut Vec<u8>| {
        if form == Form::Xlsx {
            // Workbooks are written as a whole, and only for as many values as JSON has. If a
            // value does not fit, the body stays empty, which no workbook is.
            let whole = book(columns.names(), |book| {
                for index in 0..span.count as u64 {
                    push(span.extent.offset + index, Target::Book(book))?;
                    tally.count();
                }
                Ok(())
            });
            out.extend(whole.unwrap_or_default());
            return false;
        }
        if made == 0 {
            match form {
                Form::Json => out.push(b'['),
                Form::Csv => {
                    if span.extent.bom {
                        out.extend_from_slice("\u{feff}".as_bytes());
                    }
                    push_row(columns.names().iter().copied(), out);
                }
                Form::Ndjson | Form::Xlsx => {}
            }
        }
        if made < span.count {
            if made > 0 && form == Form::Json {
                out.push(b',');
            }
            let index = span.extent.offset + made as u64;
            // Only workbooks have cells of limited length.
            let _ = match form {
                Form::Csv => push(index, Target::Csv(out)),
                _ => push(index, Target::Json(out)),
            };
            tally.count();
            if form == Form::Ndjson {
                out.push(b'\n');
            }
        }
        made += 1;
        let more = made < span.count;
        if !more && form == Form::Json {
            out.push(b']');
        }
        more
    };
    Made { form, chunks: span.is_sent.then_some(next) }
}

/// Returns the list format that the client accepts.
pub fn form(request: &HttpRequest) -> Form {
    Form::accepted(request.headers().get_all(ACCEPT).filter_map(|value| value.to_str().ok()))
}

/// Encodes a whole list.
pub fn written<R: Record + Serialize>(items: &[R], form: Form) -> Vec<u8> {
    let mut out = Vec::new();
    match form {
        Form::Json => push_json(&items, &mut out),
        Form::Csv => {
            push_row(R::COLUMNS.iter().copied(), &mut out);
            for item in items {
                push_row(item.cells().iter().map(|cell| &**cell), &mut out);
            }
        }
        Form::Ndjson => {
            for item in items {
                push_json(item, &mut out);
                out.push(b'\n');
            }
        }
        Form::Xlsx => {
            let fill = |book: &mut Book| items.iter().try_for_each(|item| push_cells(item, book));
            // Names and codes are shorter than the longest text of a cell.
            out.extend(book(R::COLUMNS, fill).unwrap_or_default());
        }
    }
    out
}

/// Returns a workbook with one sheet, whose rows are written by `fill`.
fn book(
    columns: &[&str],
    fill: impl FnOnce(&mut Book) -> anyhow::Result<()>,
) -> anyhow::Result<Vec<u8>> {
    let mut book = Book::in_memory();
    book.begin("list", columns.iter().copied())?;
    fill(&mut book)?;
    book.into_bytes()
}

/// Writes a row of a sheet. All cells are texts: a card number would lose digits as a number.
fn push_cells(item: &impl Record, book: &mut Book) -> anyhow::Result<()> {
    book.push(item.cells().iter().map(|cell| (&**cell, false)))
}

/// CSV column names.
trait Columns: Unpin + 'static {
    fn names(&self) -> &[&'static str];
}

impl Columns for &'static str {
    fn names(&self) -> &[&'static str] {
        std::slice::from_ref(self)
    }
}

impl Columns for &'static [&'static str] {
    fn names(&self) -> &[&'static str] {
        self
    }
}

/// Appends a value as JSON. Our own types always serialize, and writing to a `Vec` can't fail.
fn push_json(value: &impl Serialize, out: &mut Vec<u8>) {
    serde_json::to_writer(out, value).unwrap_or_default();
}
