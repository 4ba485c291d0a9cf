//! Lists of generated values, in whichever format the client accepts.

use actix_web::HttpRequest;
use actix_web::body::BoxBody;
use actix_web::http::header::ACCEPT;
use serde::Serialize;
use shell::is_head;

use super::chunks::{self, Chunks};
use crate::metrics::{Kind, Tally};
use crate::wire::{Extent, Form, Record, push_row};

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
    /// Creates the span for a list of `count` values, in a format the client accepts.
    pub fn of(request: &HttpRequest, kind: Kind, count: usize, extent: Extent) -> Self {
        Self { kind, form: form(request), is_sent: !is_head(request), count, extent }
    }
}

/// A list that's ready to send.
pub struct Sent {
    pub form: Form,
    pub body: BoxBody,
}

/// A list whose values are generated while it's being sent.
pub struct Made<F> {
    pub form: Form,
    /// Appends the next value. Returns false after the last one. `None` for `HEAD`.
    pub chunks: Option<F>,
}

impl<F: FnMut(&mut Vec<u8>) -> bool + Unpin + 'static> Made<F> {
    /// Responds without taking up one of the caller's stream slots.
    pub fn whole(self) -> Sent {
        let body = self.chunks.map_or_else(chunks::unmade, |next| Chunks::new(next).boxed());
        Sent { form: self.form, body }
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
    made(span, column, move |index, form, out| {
        item.clear();
        make(index, &mut item);
        match form {
            Form::Csv => push_row([item.as_str()], out),
            Form::Json | Form::Ndjson => push_json(&item, out),
        }
    })
}

/// Prepares a list of records.
pub fn records<R: Record + Serialize>(
    span: Span,
    mut make: impl FnMut(u64) -> R + Unpin + 'static,
) -> Made<impl FnMut(&mut Vec<u8>) -> bool + Unpin + 'static> {
    let columns = R::COLUMNS;
    made(span, columns, move |index, form, out| {
        let item = make(index);
        match form {
            Form::Csv => push_row(item.cells().iter().map(|cell| &**cell), out),
            Form::Json | Form::Ndjson => push_json(&item, out),
        }
    })
}

fn made(
    span: Span,
    columns: impl Columns,
    mut push: impl FnMut(u64, Form, &mut Vec<u8>) + Unpin + 'static,
) -> Made<impl FnMut(&mut Vec<u8>) -> bool + Unpin + 'static> {
    let form = span.form;
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
                Form::Ndjson => {}
            }
        }
        if made < span.count {
            if made > 0 && form == Form::Json {
                out.push(b',');
            }
            push(span.extent.offset + made as u64, form, out);
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
    }
    out
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
