//! `/api/Text`.

use actix_web::web::Data;
use actix_web::{Error, HttpRequest, HttpResponse, get, post};
use auth::{After, Caller};
use shell::is_head;

use super::input::{BodyInput, Input};
use super::{reply, stream};
use crate::error::{BodyFailures, Failures};
use crate::metrics::{self, Kind};
use crate::model::text::{Lorem, Replacing, change_case, humanize, password};
use crate::state::State;
use crate::wire::{
    Change, HumanizeRequest, LoremParameters, LoremRequest, PasswordParameters, PasswordRequest,
    TextDto, TransformParameters, TransformRequest,
};

/// Generate placeholder text
///
/// The text is generated as the response is sent, so it can have any length. Each caller can have
/// only a limited number of concurrent long responses.
#[utoipa::path(
    operation_id = "generateLoremIpsum",
    tag = "Text",
    params(LoremParameters),
    responses(
        (status = 200, body = String, content_type = "application/json",
            example = json!("Lorem ipsum dolor sit amet et vitae, quam.")),
        Failures
    )
)]
#[get("/api/Text/LoremIpsum")]
pub async fn generate_lorem_ipsum(
    After(input): After<Input<LoremRequest>>,
    caller: Caller,
    state: Data<State>,
    request: HttpRequest,
) -> Result<HttpResponse, Error> {
    let seed = input.seed()?;
    let random = seed.random("generateLoremIpsum", "");
    let mut lorem = Lorem::new(random, input.vocabulary, input.unit, input.number);
    // No escaping is needed, because the text doesn't contain quotes, backslashes or control
    // characters.
    let next = quoted(move |out| lorem.push(out));
    let answer = stream::answer(&request, &caller, &state, next);
    let answer = answer.map_err(|fault| input.error(fault))?;
    if !is_head(&request) {
        metrics::made(Kind::Text, 1);
    }
    Ok(reply::marked(&seed, answer))
}

/// Generate a password
///
/// Uses the system's random number generator, so the password cannot be reproduced. Lowercase
/// letters are always included. Each selected character class occurs at least once.
#[utoipa::path(
    operation_id = "generatePassword",
    tag = "Text",
    params(PasswordParameters),
    responses(
        (status = 200, body = String, content_type = "application/json",
            example = json!("qZ3wmcuk9tRb")),
        Failures
    )
)]
#[get("/api/Text/Password")]
pub async fn generate_password(
    After(input): After<Input<PasswordRequest>>,
) -> Result<HttpResponse, Error> {
    let made = password(input.length, input.classes).map_err(|cause| input.error(cause))?;
    metrics::made(Kind::Password, 1);
    Ok(reply::fresh(reply::json(&made)))
}

/// Convert an identifier to a sentence
///
/// For example, `orderIdNotFound` becomes `Order id not found`. The rules are those of Humanizer
/// for .NET.
#[utoipa::path(
    operation_id = "humanizeText",
    tag = "Text",
    request_body = TextDto,
    responses(
        (status = 200, body = String, content_type = "application/json",
            example = json!("Order id not found")),
        Failures,
        BodyFailures
    )
)]
#[post("/api/Text/Humanize")]
pub async fn humanize_text(
    After(BodyInput(HumanizeRequest(text))): After<BodyInput<HumanizeRequest>>,
) -> HttpResponse {
    reply::fresh(reply::json(&humanize(&text)))
}

/// Change the letter case of a text, or replace parts of it
///
/// A long response is streamed and occupies one of the caller's stream slots.
#[utoipa::path(
    operation_id = "transformText",
    tag = "Text",
    params(TransformParameters),
    request_body = TextDto,
    responses(
        (status = 200, body = String, content_type = "application/json",
            example = json!("The Lord of the Rings")),
        Failures,
        BodyFailures
    )
)]
#[post("/api/Text/Transform")]
pub async fn transform_text(
    After(BodyInput(input)): After<BodyInput<TransformRequest>>,
    caller: Caller,
    state: Data<State>,
    request: HttpRequest,
) -> Result<HttpResponse, Error> {
    let TransformRequest { change, text } = input;
    let answer = match change {
        Change::Case(case) => {
            let changed = change_case(&text, case);
            let mut done = 0;
            stream::answer(
                &request,
                &caller,
                &state,
                quoted(move |out| {
                    let end = changed.floor_char_boundary(done + PIECE);
                    push_escaped(&changed[done..end], out);
                    done = end;
                    done < changed.len()
                }),
            )
        }
        Change::Replacement { find, replacement } => {
            let mut replacing = Replacing::new(text, find, replacement);
            stream::answer(
                &request,
                &caller,
                &state,
                quoted(move |out| {
                    let (before, replacement, more) = replacing.step();
                    push_escaped(before, out);
                    push_escaped(replacement, out);
                    more
                }),
            )
        }
    };
    answer.map_err(|fault| fault.into_error(&request))
}

/// Number of bytes to write at a time.
const PIECE: usize = 16 << 10;

/// Puts quotes around text that is appended in pieces.
fn quoted(
    mut next: impl FnMut(&mut Vec<u8>) -> bool + Unpin + 'static,
) -> impl FnMut(&mut Vec<u8>) -> bool + Unpin + 'static {
    let mut begun = false;
    move |out| {
        if !begun {
            out.push(b'"');
            begun = true;
        }
        let more = next(out);
        if !more {
            out.push(b'"');
        }
        more
    }
}

/// Appends a string with JSON escapes but without quotes.
fn push_escaped(text: &str, out: &mut Vec<u8>) {
    let quoted = reply::json(&text);
    out.extend_from_slice(quoted.get(1..quoted.len() - 1).unwrap_or_default());
}
