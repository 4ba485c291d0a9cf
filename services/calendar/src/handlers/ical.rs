//! iCalendar over HTTP.

use actix_web::http::header::{self, ContentDisposition, DispositionParam, DispositionType};
use actix_web::web::{Bytes, Data};
use actix_web::{HttpRequest, HttpResponse, get};
use futures_util::stream::try_unfold;
use shell::Validators;

use super::input::Input;
use super::reuse::{Lasting, Reuse};
use crate::app::feed_pieces::Pieces;
use crate::app::feeds::{self, Feed, FeedText};
use crate::error::Error;
use crate::state::State;
use crate::wire::parameters::FeedParameters;

/// The media type of an iCalendar file.
const CALENDAR: &str = "text/calendar; charset=UTF-8";

/// Export events as an iCalendar file
///
/// Accepts the same filters as the event list. Returns up to 50000 events, or as many as the
/// ICAL_ITEMS_MAX setting allows; `X-TEC-Total` and `X-TEC-TotalPages` show whether there are more.
/// Protected events include only their title and times. `outlook-ical=1` omits the calendar name.
#[utoipa::path(
    operation_id = "exportIcal", tag = "iCalendar", path = "/calendar/events/v1/ical",
    params(FeedParameters),
    responses((status = 200, body = String, content_type = "text/calendar"), (status = 304), (status = 400), (status = 503)),
)]
#[get("/calendar/events/v1/ical")]
pub async fn export_ical(
    input: Input,
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let reuse = Reuse::of(&request, &state, &input.request, Lasting::of_events);
    reuse.answer(async { answer(feeds::feed(&state, input.request).await?, &request).await }).await
}

/// Responds with a feed, or with 304 if the client already has it.
pub async fn answer(feed: Feed, request: &HttpRequest) -> Result<HttpResponse, Error> {
    const CACHING: &str = "public, no-cache";
    // The same content can be sent with or without compression, so the tag is weak.
    let validators = Validators::weak(feed.tag);
    if request.headers().contains_key(header::IF_NONE_MATCH)
        && validators.are_known(request.headers())
    {
        return Ok(validators.answer(request, CACHING, |mut response| response.finish()));
    }
    let content = feed.read().await?;
    let validators = match content.modified {
        Some(seconds) => validators.dated(seconds),
        None => validators,
    };
    let disposition = ContentDisposition {
        disposition: DispositionType::Attachment,
        parameters: vec![DispositionParam::Filename(content.file_name)],
    };
    Ok(validators.answer(request, CACHING, |mut response| {
        response.insert_header((header::CONTENT_TYPE, CALENDAR)).insert_header(disposition);
        response.insert_header(("x-tec-total", content.total));
        response.insert_header(("x-tec-totalpages", content.pages));
        match content.text {
            FeedText::Whole(text) => response.body(text),
            FeedText::Pieces(pieces) => response.streaming(try_unfold(pieces, next)),
        }
    }))
}

async fn next(mut pieces: Box<Pieces>) -> Result<Option<(Bytes, Box<Pieces>)>, Error> {
    let piece = pieces.next().await?;
    Ok(piece.map(|(text, _)| (Bytes::from(text), pieces)))
}
