//! Lists of generated values, in the format that the client accepts.

use actix_web::HttpRequest;
use actix_web::body::BoxBody;
use actix_web::http::header::ACCEPT;
use serde::Serialize;
use shell::is_head;

use super::chunks::{self, Chunks};
use crate::wire::{Form, Record, push_row};

/// A list whose values are generated while it is sent.
pub struct Made {
    pub form: Form,
    pub body: BoxBody,
}

impl Made {
    /// A list of `count` texts, each appended by `make` to an empty text. `column` is the column
    /// name in CSV.
    pub fn texts(
        request: &HttpRequest,
        count: usize,
        column: &'static str,
        mut make: impl FnMut(&mut String) + Unpin + 'static,
    ) -> Self {
        let mut item = String::new();
        Self::of(request, count, column, move |form, out| {
            item.clear();
            make(&mut item);
            match form {
                Form::Csv => push_row([item.as_str()], out),
                Form::Json | Form::Ndjson => push_json(&item, out),
            }
        })
    }

    /// A list of `count` records.
    pub fn records<R: Record + Serialize>(
        request: &HttpRequest,
        count: usize,
        mut make: impl FnMut() -> R + Unpin + 'static,
    ) -> Self {
        let columns = R::COLUMNS;
        Self::of(request, count, columns, move |form, out| {
            let item = make();
            match form {
                Form::Csv => push_row(item.cells().iter().map(|cell| &**cell), out),
                Form::Json | Form::Ndjson => push_json(&item, out),
            }
        })
    }

    fn of(
        request: &HttpRequest,
        count: usize,
        columns: impl Columns,
        mut push: impl FnMut(Form, &mut Vec<u8>) + Unpin + 'static,
    ) -> Self {
        let form = form(request);
        if is_head(request) {
            return Self { form, body: chunks::unmade() };
        }
        let mut made = 0;
        let body = Chunks::new(move |out| {
            if made == 0 {
                match form {
                    Form::Json => out.push(b'['),
                    Form::Csv => push_row(columns.names().iter().copied(), out),
                    Form::Ndjson => {}
                }
            }
            if made < count {
                if made > 0 && form == Form::Json {
                    out.push(b',');
                }
                push(form, out);
                if form == Form::Ndjson {
                    out.push(b'\n');
                }
            }
            made += 1;
            let more = made < count;
            if !more && form == Form::Json {
                out.push(b']');
            }
            more
        });
        Self { form, body: body.boxed() }
    }
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

/// The column names of a table.
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

/// Appends a value as JSON. Writing to memory cannot fail, and the types of the service are
/// serializable.
fn push_json(value: &impl Serialize, out: &mut Vec<u8>) {
    serde_json::to_writer(out, value).unwrap_or_default();
}
