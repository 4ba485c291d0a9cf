//! Helpers for building responses.

use actix_web::body::MessageBody;
use actix_web::http::header::{self, ContentType, HeaderValue};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use database::off_worker;
use futures_util::{Stream, StreamExt, TryStreamExt, stream};
use shell::{EntityTag, Validators};

use crate::app::Pieces;
use crate::error::Error;
use crate::state::{Snapshot, State};

/// Lets clients cache catalogue responses for five minutes.
const CATALOGUE_CACHE: &str = "public, max-age=300";

/// Returns a response with a JSON body.
pub fn json(body: impl MessageBody + 'static) -> HttpResponse {
    let json = HeaderValue::from_static("application/json");
    HttpResponse::Ok().insert_header((header::CONTENT_TYPE, json)).body(body)
}

/// Returns a cacheable response with catalogue data, or 304 if the client's copy is up to date.
pub fn catalogue(
    request: &HttpRequest,
    state: &State,
    snapshot: &Snapshot,
    body: Bytes,
) -> HttpResponse {
    let tag = EntityTag::new(&snapshot.answers.version_tag);
    let changed_at = snapshot.answers.catalogue.changed_at;
    // If there are several changes within a second, their times are one second apart.
    let validators = Validators::strong(tag).modified(changed_at).sent_by(state.clock().unix());
    validators.answer(request, CATALOGUE_CACHE, |mut response| {
        // Shared caches may keep the plain and the compressed form.
        response.insert_header((header::VARY, HeaderValue::from_static("accept-encoding")));
        response.content_type(ContentType::json()).body(body)
    })
}

/// Returns the response to a domain search. A short one is sent in one go. A longer one is streamed
/// at the client's pace, with its pieces generated on blocking threads.
pub async fn in_pieces(
    mut response: HttpResponseBuilder,
    names: impl Pieces,
) -> Result<HttpResponse, Error> {
    let (names, piece, last) = next_piece(names).await?;
    if last {
        return Ok(response.body(piece));
    }
    let first = stream::once(async { Ok(piece) });
    let others = stream::try_unfold(Some(names), |left| async {
        let Some(names) = left else { return Ok(None) };
        let (names, piece, last) = next_piece(names).await?;
        Ok::<_, Error>(Some((piece, (!last).then_some(names))))
    });
    Ok(response.streaming(first.chain(others)))
}

/// Streams a JSON response at the client's pace and stops if the client disconnects. An error
/// before the first piece determines the status. After that, the response can only be truncated.
pub async fn json_pieces(
    pieces: impl Stream<Item = Result<Bytes, Error>> + 'static,
) -> Result<HttpResponse, Error> {
    let mut pieces = Box::pin(pieces);
    let first = stream::iter(pieces.try_next().await?.map(Ok));
    Ok(HttpResponse::Ok().content_type(ContentType::json()).streaming(first.chain(pieces)))
}

async fn next_piece<P: Pieces>(mut names: P) -> Result<(P, Bytes, bool), Error> {
    let failed =
        |error: std::io::Error| Error::Internal(format!("a response was truncated: {error}"));
    let work = off_worker(move || names.next_piece().map(|(piece, last)| (names, piece, last)));
    let (names, piece, last) = work.await?.map_err(failed)?;
    Ok((names, Bytes::from(piece), last))
}
