//! The query as it was sent: names and values in order.

use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest};

use crate::{Fault, Violation};

/// Form-decoded query parameters in the order sent, for operations with reading rules of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pairs(pub Vec<(String, String)>);

impl Pairs {
    /// Decodes a query string: `%XX`, and `+` as a blank.
    ///
    /// ```
    /// let pairs = shell::Pairs::parse("a=1+2&a=%C3%BC&b").unwrap();
    /// assert_eq!(pairs.first("a"), Some("1 2"));
    /// assert_eq!(pairs.last("a"), Some("ü"));
    /// assert_eq!(pairs.first("b"), Some(""));
    /// assert!(shell::Pairs::parse("a=%FF").is_err());
    /// ```
    ///
    /// # Errors
    /// [`Fault::InvalidQuery`] naming the parameter whose bytes are not UTF-8.
    pub fn parse(query: &str) -> Result<Self, Fault> {
        let pairs = query.split('&').filter(|part| !part.is_empty()).map(|part| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let name = decode(name).ok_or_else(|| not_text(""))?;
            let value = decode(value).ok_or_else(|| not_text(&name))?;
            Ok((name, value))
        });
        pairs.collect::<Result<_, _>>().map(Self)
    }

    /// The first value with this name.
    pub fn first(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// The first value whose name is this one, ignoring ASCII case.
    pub fn first_ignoring_case(&self, name: &str) -> Option<&str> {
        let mut pairs = self.0.iter();
        pairs.find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The last value with this name.
    pub fn last(&self, name: &str) -> Option<&str> {
        self.0.iter().rfind(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }
}

fn not_text(name: &str) -> Fault {
    Fault::InvalidQuery(vec![Violation::new(name, "encoding", "the value is not UTF-8 text")])
}

/// Decodes one name or value; a `%` without two digits stands for itself.
fn decode(text: &str) -> Option<String> {
    if !text.contains(['%', '+']) {
        return Some(text.to_owned());
    }
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escaped = match bytes[at] {
            b'%' => bytes.get(at + 1..at + 3).and_then(byte_of),
            _ => None,
        };
        match (escaped, bytes[at]) {
            (Some(byte), _) => {
                decoded.push(byte);
                at += 2;
            }
            (None, b'+') => decoded.push(b' '),
            (None, byte) => decoded.push(byte),
        }
        at += 1;
    }
    String::from_utf8(decoded).ok()
}

fn byte_of(digits: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some(digit(digits[0])? << 4 | digit(digits[1])?)
}

impl FromRequest for Pairs {
    type Error = actix_web::Error;
    type Future = Ready<Result<Self, Self::Error>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Self::parse(request.query_string()).map_err(|fault| fault.into_error(request)))
    }
}
