//! `GET /api/v2/files`

use actix_web::http::header::{Accept, CONTENT_DISPOSITION, Header, HeaderValue, Quality, VARY};
use actix_web::web::{Bytes, Data};
use actix_web::{HttpRequest, HttpResponse, get};
use auth::Caller;
use futures_util::{Stream, TryStreamExt};

use super::input::{owner_and_plan, parameters};
use super::reply::json;
use crate::app::{self, Download};
use crate::error::{Error, Failures};
use crate::state::State;
use crate::wire::download::DownloadFormat;
use crate::wire::files::{FileParameters, FileSearch, FilesAnswer};

/// Search files
///
/// Returns files whose name contains every keyword, or matches the regular expression, and that
/// pass all filters. Files are sorted by ID unless `order` is set.
///
/// To download results, set `Accept` to `text/csv` or `application/x-ndjson`. The response then
/// streams all results in the same order, up to the package's limit. The `X-Results` header
/// contains the exact total, and `X-Files` the number of files in the response. CSV is intended for
/// spreadsheets: text that could be interpreted as a formula is prefixed with an apostrophe. NDJSON
/// contains the same records as the JSON response. A response that ends without its final chunk is
/// incomplete.
#[utoipa::path(
    operation_id = "searchFiles",
    tag = "search",
    params(FileParameters),
    responses(
        (
            status = 200,
            description = "The matching files.",
            content(
                (FilesAnswer = "application/json"),
                (String = "text/csv"),
                (String = "application/x-ndjson")
            ),
            headers(
                ("X-Results" = u64,
                    description = "Exact number of matching files. CSV and NDJSON only."),
                ("X-Files" = u64,
                    description = "Number of files in the response. CSV and NDJSON only.")
            )
        ),
        Failures
    ),
    security(("bearer" = []), ("access_token" = []))
)]
#[get("/api/v2/files")]
pub async fn search_files(
    caller: Caller,
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let search = FileSearch::try_from(parameters::<FileParameters>(&request)?)?;
    let caller = owner_and_plan(&caller);
    if let Some(format) = download_format(&request) {
        return download(app::download_files(&state, caller, &search, format).await?, format);
    }
    let (answer, permit) = app::search_files(&state, caller, search).await?;
    let mut response = json(&answer)?;
    response.headers_mut().insert(VARY, HeaderValue::from_static("Accept"));
    // The permit is dropped along with the response head. By then, the body has been compressed,
    // and the connection accounts for its memory.
    response.extensions_mut().insert(permit);
    Ok(response)
}

/// Returns the download format if the client prefers one to JSON.
fn download_format(request: &HttpRequest) -> Option<DownloadFormat> {
    let accept = Accept::parse(request).ok()?;
    let format = |range: &str| match range {
        "text/csv" | "text/*" => Some(Some(DownloadFormat::Csv)),
        "application/x-ndjson" | "application/ndjson" | "application/jsonl" => {
            Some(Some(DownloadFormat::Ndjson))
        }
        "application/json" | "application/*" | "*/*" => Some(None),
        _ => None,
    };
    let mut ranges = accept.0.iter().filter(|range| range.quality > Quality::ZERO);
    // If the weights are equal, the first range wins.
    let weight = ranges.clone().filter(|range| format(range.item.essence_str()).is_some());
    let best = weight.map(|range| range.quality).max()?;
    ranges.find_map(|range| format(range.item.essence_str()).filter(|_| range.quality == best))?
}

/// Streams a download.
fn download<S>(download: Download<S>, format: DownloadFormat) -> Result<HttpResponse, Error>
where
    S: Stream<Item = Result<Vec<u8>, Error>> + 'static,
{
    let parts = download.parts.map_ok(Bytes::from).inspect_err(|error| {
        // The headers have already been sent, so all that's left is to close the connection without
        // sending the last chunk.
        log::warn!("a download was cut off: {error}");
    });
    let file = format!("attachment; filename=\"{}\"", format.file_name());
    Ok(HttpResponse::Ok()
        .content_type(format.content_type())
        .insert_header((CONTENT_DISPOSITION, file))
        .insert_header((VARY, "Accept"))
        .insert_header(("x-results", download.results))
        .insert_header(("x-files", download.files))
        .streaming(parts))
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("", None)]
    #[case("*/*", None)]
    #[case("application/json", None)]
    #[case("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", None)]
    #[case("text/csv", Some(DownloadFormat::Csv))]
    #[case("TEXT/CSV; header=present, */*;q=0.1", Some(DownloadFormat::Csv))]
    #[case("application/x-ndjson", Some(DownloadFormat::Ndjson))]
    #[case("text/csv;q=0.5, application/x-ndjson", Some(DownloadFormat::Ndjson))]
    #[case("text/csv;q=0.5, application/json", None)]
    #[case("application/json;q=0.5, text/csv;q=0", None)]
    #[case("image/png", None)]
    #[case("nonsense", None)]
    fn format_follows_accept(
        #[case] accept: &'static str,
        #[case] expected: Option<DownloadFormat>,
    ) {
        let request = TestRequest::default().insert_header(("accept", accept)).to_http_request();
        assert_eq!(download_format(&request), expected);
    }
}
