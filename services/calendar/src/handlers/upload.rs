//! File uploads, sent either as the whole body or as the form field `file`.

use std::time::Duration;

use actix_web::HttpRequest;
use actix_web::http::header::{CONTENT_LENGTH, EXPECT};
use actix_web::web::{Bytes, Data, Payload};
use futures_util::StreamExt;
use shell::{Fault, read_body};
use utoipa::ToSchema;

use super::input::{Input, essence, head, is_compressed};
use super::multipart::parts;
use crate::app::uploads;
use crate::error::Error;
use crate::model::role::{Action, User};
use crate::state::State;
use crate::wire::parameter_errors::ParameterErrors;

/// Maximum size of a multipart form in bytes, excluding the file.
const FORM: usize = 64 << 10;

/// Maximum number of bytes to read and discard after a file has turned out to be too large.
const DISCARDED: usize = 32 << 20;

/// Time limit for discarding the rest of a file.
const DISCARD_TIME: Duration = Duration::from_secs(5);

/// Form with an uploaded file.
#[derive(ToSchema)]
#[expect(dead_code, reason = "names the part for the documentation")]
pub struct UploadForm {
    /// The file to upload.
    #[schema(value_type = String, format = Binary)]
    file: Vec<u8>,
}

/// An uploaded file and its sender.
pub struct Upload {
    pub user: User,
    pub input: Input,
    pub bytes: Bytes,
}

/// Receives a file of an accepted media type, up to a size limit. Permissions are checked before
/// the file is read.
pub async fn receive(
    request: &HttpRequest,
    payload: Payload,
    state: &Data<State>,
    action: Action,
    (limit, expected): (usize, fn(&str) -> bool),
) -> Result<Upload, Error> {
    let input = head(request).await?;
    let user = uploads::permit(state, input.request.login.clone(), action).await?;
    let kind = essence(request.headers());
    let form = kind == "multipart/form-data";
    let most = if form { limit + FORM } else { limit };
    let mut payload = payload.into_inner();
    let bytes = match read_body(request, &mut payload, most).await {
        Ok(bytes) => bytes,
        Err(Fault::PayloadTooLarge { .. }) => {
            if !is_waiting(request) {
                discard(payload).await;
            }
            return Err(Error::PayloadTooLarge(limit));
        }
        Err(fault) => return Err(Error::from(&fault)),
    };
    if is_compressed(request.headers()) {
        return Err(Error::from(ParameterErrors::one("file", "must be sent without compression")));
    }
    let file = match form {
        true => {
            let parts = parts(request.headers(), bytes).await?;
            parts.into_iter().find(|part| part.name == "file").map(|part| part.content.into())
        }
        false if bytes.is_empty() => None,
        false if expected(&kind) => Some(bytes),
        false => return Err(Error::UnsupportedMediaType),
    };
    let Some(bytes) = file else {
        let missing = ParameterErrors { missing: vec!["file"], ..ParameterErrors::default() };
        return Err(missing.into());
    };
    match bytes.len() > limit {
        true => Err(Error::PayloadTooLarge(limit)),
        false => Ok(Upload { user, input, bytes }),
    }
}

/// Returns whether the client waits for `100 Continue` before it sends a body of known length.
/// Reading from such a body would request it.
fn is_waiting(request: &HttpRequest) -> bool {
    let headers = request.headers();
    headers.contains_key(EXPECT) && headers.contains_key(CONTENT_LENGTH)
}

/// Reads and discards the rest of a body for a limited time, because some clients don't read the
/// response before they have sent everything.
async fn discard(mut payload: actix_web::dev::Payload) {
    let reading = async {
        let mut read = 0;
        while let Some(Ok(bytes)) = payload.next().await {
            read += bytes.len();
            if read > DISCARDED {
                break;
            }
        }
    };
    // Clients that take longer won't see the response.
    let _ = tokio::time::timeout(DISCARD_TIME, reading).await;
}
