//! `GET /api/v2/files`.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, get};
use auth::Caller;

use super::{json, package_of};
use crate::catalog::Catalog;
use crate::error::{Error, Failures};
use crate::metrics;
use crate::model::file_query::{FileQuery, FileRow, Found, Place, Position};
use crate::model::package::Package;
use crate::model::path;
use crate::model::scroll::Scroll;
use crate::state::State;
use crate::wire::file_search::{FileMeta, FileParameters, FileRecord, FileSearch, FilesAnswer};
use crate::wire::parameters::Parameters;

/// Search files
///
/// Files whose names hold all words, or match the expression, and pass all filters; in the order
/// of their ids unless `order` says otherwise.
#[utoipa::path(
    operation_id = "searchFiles",
    tag = "search",
    params(FileParameters),
    responses((status = 200, description = "The files", body = FilesAnswer), Failures),
    security(("bearer" = []), ("access_token" = []))
)]
#[get("/api/v2/files")]
pub async fn find(
    caller: Caller,
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let search = FileSearch::parse(&Parameters::parse(request.query_string())?)?;
    let catalog = state.catalog();
    let package = package_of(&caller, &catalog);
    permit(&search, &package, &catalog)?;
    let owner = caller.key.as_ref().map(|key| key.owner.clone()).unwrap_or_default();
    let mark = Mark { generation: catalog.generation, fingerprint: search.fingerprint(&owner) };
    let now = state.clock().unix();
    let query = query(&search, &package, &catalog, &mark, now)?;
    let found = state.search(&catalog, query).await?;
    metrics::searched("searchFiles", found.total);
    Ok(json(&answer(search, &package, &catalog, &mark, now, found)))
}

/// What a scroll id must agree with.
struct Mark {
    generation: u32,
    fingerprint: u64,
}

/// Refuses what the package does not allow.
fn permit(search: &FileSearch, package: &Package, catalog: &Catalog) -> Result<(), Error> {
    let lacking = search.needs.iter().find(|(_, need)| !package.allows(*need));
    let Some((name, need)) = lacking else { return Ok(()) };
    let cheapest = catalog.cheapest_with(*need).map_or("enterprise", |found| found.code.as_str());
    Err(Error::Package { name, package: cheapest.to_owned() })
}

/// Adds buckets, the account's view and the position.
fn query(
    search: &FileSearch,
    package: &Package,
    catalog: &Catalog,
    mark: &Mark,
    now: i64,
) -> Result<FileQuery, Error> {
    let mut query = search.query.clone();
    if !search.echo.buckets.is_empty() {
        query.buckets = Some(catalog.bucket_ids(&search.echo.buckets));
    }
    query.excluded_buckets = catalog.bucket_ids(&search.echo.excluded_buckets);
    if let Some(since) = package.hidden_since(now) {
        query.excluded_buckets.extend(catalog.young(since));
        query.excluded_buckets.sort_unstable();
        query.excluded_buckets.dedup();
    }
    if search.scrolling {
        query.position = Position::After(first_place(search.query.descending));
        if let Some(scroll) = &search.scroll {
            query.position = Position::After(place(scroll, mark)?);
        }
        return Ok(query);
    }
    let reachable = package.reach().saturating_sub(search.echo.start);
    query.limit = query.limit.min(usize::try_from(reachable).unwrap_or(usize::MAX));
    if query.limit == 0 {
        query.position = Position::Offset(0);
    }
    Ok(query)
}

/// The place before every file.
fn first_place(descending: bool) -> Place {
    Place { value: if descending { i64::MAX } else { i64::MIN }, id: 0 }
}

fn place(scroll: &Scroll, mark: &Mark) -> Result<Place, Error> {
    if scroll.generation != mark.generation {
        return Err(Error::ScrollExpired);
    }
    if scroll.fingerprint != mark.fingerprint {
        return Err(Error::parameter("scroll-id", "scroll-id belongs to another search"));
    }
    Ok(scroll.last)
}

fn answer(
    search: FileSearch,
    package: &Package,
    catalog: &Catalog,
    mark: &Mark,
    now: i64,
    found: Found,
) -> FilesAnswer {
    let results = search.scroll.map_or(found.total, |scroll| scroll.total);
    let last = found.rows.last().filter(|_| search.scrolling && found.more);
    let next = last.map(|row| {
        let value = search.query.sort_value(row.size, row.modified);
        let last = Place { value, id: row.id };
        let Mark { generation, fingerprint } = *mark;
        Scroll { generation, fingerprint, total: results, last }.encode()
    });
    FilesAnswer {
        meta: FileMeta {
            results,
            notice: package.notice(now, results, search.scrolling),
            regex_notice: search.regex_notice,
            next_scroll_id: next,
        },
        query: search.echo,
        files: found.rows.into_iter().filter_map(|row| record(row, catalog)).collect(),
    }
}

fn record(row: FileRow, catalog: &Catalog) -> Option<FileRecord> {
    let bucket = catalog.bucket(row.bucket)?;
    Some(FileRecord {
        id: row.id.to_string(),
        bucket: bucket.address.clone(),
        bucket_id: bucket.id,
        filename: path::file_name(&row.path).to_owned(),
        url: path::url(&bucket.address, &row.path),
        full_path: row.path,
        size: row.size,
        kind: bucket.kind.as_str(),
        last_modified: row.modified,
    })
}
