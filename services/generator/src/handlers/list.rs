//! Responds with lists of generated values, in a format that the client accepts.

use actix_web::HttpRequest;
use actix_web::body::BoxBody;
use actix_web::http::header::ACCEPT;
use serde::Serialize;
use shell::{Fault, Violation, is_head};

use super::chunks::{self, Begun, Chunks};
use crate::metrics::{self, Kind, Tally};
use crate::model::records::Shape;
use crate::wire::{Book, Extent, Form, Record, push_row};

/// The slice of a list to send, the list's format, and the kind of values in it.
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

/// Appends the next value of a list. Returns false after the last one.
pub trait Next: FnMut(&mut Vec<u8>) -> bool + Unpin + 'static {}

impl<F: FnMut(&mut Vec<u8>) -> bool + Unpin + 'static> Next for F {}

/// Builds a workbook. This takes too long to do on a worker thread.
pub trait Build: FnOnce() -> Result<Vec<u8>, Fault> + Send + 'static {}

impl<F: FnOnce() -> Result<Vec<u8>, Fault> + Send + 'static> Build for F {}

/// A list whose values have yet to be generated. For `HEAD`, there is nothing to generate.
pub enum Made<N, B> {
    /// A list that is generated while the response is being sent.
    Parts(Form, Option<N>),
    /// A workbook, which is built as a whole.
    Book(Option<B>),
}

/// Returns the body of a short list, which doesn't take up one of the caller's stream slots.
pub fn short(next: Option<impl Next>) -> BoxBody {
    let Some(next) = next else { return chunks::unmade() };
    match Chunks::new(next).begin() {
        Begun::Whole(whole) => BoxBody::new(whole),
        Begun::More(chunks) => BoxBody::new(chunks),
    }
}

/// Returns the error for values that don't fit in a workbook. `field` is the parameter that asked
/// for the workbook or determined its size.
pub fn unfit(field: &'static str, cause: &anyhow::Error) -> Fault {
    match Book::is_fault_of_disk(cause) {
        true => Fault::Internal(format!("{cause:#}")),
        false => {
            Fault::InvalidQuery(vec![Violation::new(field, "workbook", format!("{cause:#}."))])
        }
    }
}

/// Prepares a list of strings. `make` appends one of them to an empty string, and `column` is the
/// name of the CSV column.
pub fn texts(
    span: Span,
    column: &'static str,
    mut make: impl FnMut(u64, &mut String) + Send + Unpin + 'static,
) -> Made<impl Next, impl Build> {
    let mut item = String::new();
    made(span, column, move |index, target| {
        item.clear();
        make(index, &mut item);
        match target {
            Target::Csv(out) => push_row([item.as_str()], out),
            Target::Json(out) => push_json(&item, out),
            Target::Book(book) => book.push([(item.as_str(), Shape::Text)].into_iter())?,
        }
        Ok(())
    })
}

/// Prepares a list of records.
pub fn records<R: Record + Serialize>(
    span: Span,
    mut make: impl FnMut(u64) -> R + Send + Unpin + 'static,
) -> Made<impl Next, impl Build> {
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

/// The output to which a value is written.
enum Target<'a> {
    /// A JSON or NDJSON body.
    Json(&'a mut Vec<u8>),
    /// A CSV body.
    Csv(&'a mut Vec<u8>),
    /// A sheet in a workbook.
    Book(&'a mut Book),
}

fn made(
    span: Span,
    columns: impl Columns,
    mut push: impl FnMut(u64, Target<'_>) -> anyhow::Result<()> + Send + Unpin + 'static,
) -> Made<impl Next, impl Build> {
    let form = span.form;
    if form == Form::Xlsx {
        let build = move || -> Result<Vec<u8>, Fault> {
            let whole = book(columns.names(), |book| {
                let mut indexes = 0..span.count as u64;
                indexes.try_for_each(|index| push(span.extent.offset + index, Target::Book(book)))
            });
            let whole = whole.map_err(|cause| unfit("Accept", &cause))?;
            metrics::made(span.kind, span.count as u64);
            Ok(whole)
        };
        return Made::Book(span.is_sent.then_some(build));
    }
    let mut tally = Tally::new(span.kind);
    let mut made = 0;
    let next = move |out: &mut Vec<u8>| {
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
            // Only cells in workbooks are limited in length.
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
    Made::Parts(form, span.is_sent.then_some(next))
}

/// Returns the list format preferred by the client.
pub fn form(request: &HttpRequest) -> Form {
    let mut accepted = request.headers().get_all(ACCEPT).filter_map(|value| value.to_str().ok());
    match (accepted.next(), accepted.next()) {
        // The usual values, which need not be parsed.
        (None | Some("*/*" | "application/json"), None) => Form::Json,
        (first, second) => Form::accepted(first.into_iter().chain(second).chain(accepted)),
    }
}

/// Encodes a whole list.
///
/// # Errors
/// Returns an error if the list doesn't fit into a workbook.
pub fn written<R: Record + Serialize>(items: &[R], form: Form) -> anyhow::Result<Vec<u8>> {
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
            out = book(R::COLUMNS, fill)?;
        }
    }
    Ok(out)
}

/// Returns a workbook with a single sheet, whose rows are written by `fill`.
fn book(
    columns: &[&str],
    fill: impl FnOnce(&mut Book) -> anyhow::Result<()>,
) -> anyhow::Result<Vec<u8>> {
    let mut book = Book::in_memory();
    book.begin("list", columns.iter().copied())?;
    fill(&mut book)?;
    book.into_bytes()
}

/// Writes a row to a sheet. All cells are text, because a card number would lose digits as a
/// number.
fn push_cells(item: &impl Record, book: &mut Book) -> anyhow::Result<()> {
    book.push(item.cells().iter().map(|cell| (&**cell, Shape::Text)))
}

/// The names of the CSV columns.
trait Columns: Send + Unpin + 'static {
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

/// Appends a value as JSON. Our own types can always be serialized, and writing to a `Vec` can't
/// fail.
fn push_json(value: &impl Serialize, out: &mut Vec<u8>) {
    serde_json::to_writer(out, value).unwrap_or_default();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(longest: usize) -> Result<Vec<u8>, Fault> {
        let extent = Extent::default();
        let span = Span { kind: Kind::Imei, form: Form::Xlsx, is_sent: true, count: 3, extent };
        let make = move |index: u64, out: &mut String| {
            out.push_str(&"x".repeat(if index == 1 { longest } else { 1 }));
        };
        let Made::Book(Some(build)) = texts(span, "imei", make) else { panic!("no workbook") };
        build()
    }

    #[test]
    fn text_too_long_for_a_cell_is_refused_and_not_counted() {
        let before = metrics::count(Kind::Imei);
        let Err(Fault::InvalidQuery(found)) = build(32_768) else { panic!("not refused") };
        assert_eq!((&*found[0].field, found.len()), ("Accept", 1));
        assert!(found[0].message.starts_with("row 2 has a text of more than 32767 characters"));
        assert_eq!(metrics::count(Kind::Imei), before);
        assert!(build(32_767).unwrap().starts_with(b"PK"));
        assert_eq!(metrics::count(Kind::Imei), before + 3);
    }
}
