//! Images, either linked by URL or stored in the media folder.

use std::collections::HashMap;

use database::{DatabaseError, Db, on_backend};
use diesel::prelude::*;

use super::among_ids::among;
use super::entities;
use super::schema::images;
use super::sql::Sql;
use crate::model::image::{Image, ImageFile};
use crate::model::role::{self, Actor};

#[derive(Queryable, Selectable)]
#[diesel(table_name = images)]
pub struct Row {
    id: i64,
    url: String,
    file: Option<String>,
    extension: String,
    width: Option<i64>,
    height: Option<i64>,
    filesize: Option<i64>,
}

impl From<Row> for Image {
    fn from(row: Row) -> Image {
        Image {
            id: row.id,
            url: row.url,
            file: row.file,
            extension: row.extension,
            width: row.width,
            height: row.height,
            filesize: row.filesize,
        }
    }
}

pub fn exists(db: &mut Db, id: i64) -> Result<bool, DatabaseError> {
    Ok(images::table.find(id).count().get_result::<i64>(db)? > 0)
}

/// Returns whether the caller uploaded this image or can see a resource that uses it.
pub fn is_shown(db: &mut Db, id: i64, actor: &Actor) -> Result<bool, DatabaseError> {
    if role::sees_all(actor) {
        return exists(db, id);
    }
    let own = role::sees_own(actor);
    let mut sql = Sql::new(db, "select count(*) as n from images where id = ");
    sql.value(id).push(" and (");
    if let Some(user) = own {
        sql.push("author_id = ").value(user).push(" or ");
    }
    for (position, (table, open)) in [
        ("events", "status = 'publish' and password is null"),
        ("venues", "status = 'publish'"),
        ("organizers", "status = 'publish'"),
    ]
    .into_iter()
    .enumerate()
    {
        sql.push(if position == 0 { "exists" } else { " or exists" });
        sql.push(" (select 1 from ").push(table).push(" where image_id = images.id and (");
        sql.push(open);
        if let Some(user) = own {
            sql.push(" or author_id = ").value(user);
        }
        sql.push("))");
    }
    sql.push(")");
    Ok(sql.number(db)? > 0)
}

/// Returns images by id.
pub fn by_ids(db: &mut Db, ids: &[i64]) -> Result<HashMap<i64, Image>, DatabaseError> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let rows: Vec<Row> = on_backend!(db, conn => images::table
        .filter(among(images::id, ids))
        .select(Row::as_select())
        .load(conn)?);
    Ok(rows.into_iter().map(|row| (row.id, Image::from(row))).collect())
}

/// Returns the id of the image with this URL, inserting it if it is new.
pub fn link(
    db: &mut Db,
    url: &str,
    extension: &str,
    author: i64,
    now: i64,
) -> Result<i64, DatabaseError> {
    let known: Option<i64> = images::table
        .filter(images::url.eq(url))
        .order(images::id)
        .select(images::id)
        .first(db)
        .optional()?;
    if let Some(id) = known {
        return Ok(id);
    }
    let id = entities::allocate(db, entities::IMAGE)?;
    diesel::insert_into(images::table)
        .values((
            images::id.eq(id),
            images::url.eq(url),
            images::extension.eq(extension),
            images::author_id.eq(author),
            images::created_utc.eq(now),
        ))
        .execute(db)?;
    Ok(id)
}

/// Returns the id of the image that was fetched from a URL, if any.
pub fn fetched_from(db: &mut Db, url: &str) -> Result<Option<i64>, DatabaseError> {
    Ok(images::table
        .filter(images::url.eq(url).and(images::file.is_not_null()))
        .order(images::id)
        .select(images::id)
        .first(db)
        .optional()?)
}

/// Inserts an image that is stored in the media folder.
pub fn insert(
    db: &mut Db,
    url: &str,
    file: &ImageFile,
    author: i64,
    now: i64,
) -> Result<i64, DatabaseError> {
    insert_as(db, (url, file), None, author, now)
}

/// Like [`insert`], but keeps the image's id on another site if that id is free.
pub fn insert_as(
    db: &mut Db,
    (url, file): (&str, &ImageFile),
    wanted: Option<i64>,
    author: i64,
    now: i64,
) -> Result<i64, DatabaseError> {
    let id = entities::allocate_as(db, entities::IMAGE, wanted)?;
    diesel::insert_into(images::table)
        .values((
            images::id.eq(id),
            images::url.eq(url),
            images::file.eq(&file.name),
            images::mime.eq(file.format.media_type()),
            images::extension.eq(file.format.extension()),
            images::width.eq(file.width),
            images::height.eq(file.height),
            images::filesize.eq(file.filesize),
            images::author_id.eq(author),
            images::created_utc.eq(now),
        ))
        .execute(db)?;
    Ok(id)
}

/// Returns the media type of a stored file, given the image id and file name. Returns `None` if the
/// image doesn't exist or its file has a different name.
pub fn media_type(db: &mut Db, id: i64, file: &str) -> Result<Option<String>, DatabaseError> {
    let mime: Option<Option<String>> = images::table
        .filter(images::id.eq(id).and(images::file.eq(file)))
        .select(images::mime)
        .first(db)
        .optional()?;
    Ok(mime.flatten())
}
