//! Files that requests carry: as the body itself, or as the part `file` of a form.

use actix_web::HttpRequest;
use actix_web::web::{Bytes, Data, Payload};
use shell::{Fault, read_body};
use utoipa::ToSchema;

use super::input::{Input, essence, head};
use super::multipart::parts;
use crate::app::uploads;
use crate::error::Error;
use crate::model::role::{Action, User};
use crate::state::State;
use crate::wire::parameter_errors::ParameterErrors;

/// What stands round the file in a form, in bytes.
const FORM: usize = 64 << 10;

/// The form that carries a file.
#[derive(ToSchema)]
#[expect(dead_code, reason = "names the part for the documentation")]
pub struct UploadForm {
    /// The file.
    #[schema(value_type = String, format = Binary)]
    file: Vec<u8>,
}

/// Who sends a file, and the file.
pub struct Upload {
    pub user: User,
    pub input: Input,
    pub bytes: Bytes,
}

/// Receives a file of at most so many bytes, of a media type that is expected, from somebody who may
/// send it: others are answered before their file is read.
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
    let bytes = read_body(request, &mut payload.into_inner(), most).await;
    let bytes = bytes.map_err(|fault| Error::from(&named(fault, limit)))?;
    let file = match form {
        true => {
            let parts = parts(request.headers(), bytes).await?;
            parts.into_iter().find(|part| part.name == "file").map(|part| part.content.into())
        }
        false => Some(bytes).filter(|bytes| expected(&kind) && !bytes.is_empty()),
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

/// Names the limit of the file rather than that of the form.
fn named(fault: Fault, limit: usize) -> Fault {
    match fault {
        Fault::PayloadTooLarge { .. } => Fault::PayloadTooLarge { limit },
        other => other,
    }
}
