//! Users: owners of keys and authors of resources.

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::schema::users;
use super::sql::Sql;
use crate::model::role::{Role, User};

type Row = (i64, String, String);

fn user((id, login, role): Row) -> Result<User, DatabaseError> {
    let role =
        Role::named(&role).ok_or_else(|| DatabaseError::broken("a user has no known role"))?;
    Ok(User { id, login, role })
}

/// Returns a user by login, or `None` if there is none.
pub fn by_login(db: &mut Db, login: &str) -> Result<Option<User>, DatabaseError> {
    let row: Option<Row> = users::table
        .filter(users::login.eq(login))
        .select((users::id, users::login, users::role))
        .first(db)
        .optional()?;
    row.map(user).transpose()
}

/// Returns whether a user with this id exists.
pub fn exists(db: &mut Db, id: i64) -> Result<bool, DatabaseError> {
    Ok(users::table.find(id).count().get_result::<i64>(db)? > 0)
}

/// Returns whether there is any user.
pub fn any(db: &mut Db) -> Result<bool, DatabaseError> {
    Ok(users::table.count().get_result::<i64>(db)? > 0)
}

/// Adds a user. An existing login is a conflict.
pub fn add(db: &mut Db, login: &str, display_name: &str, role: Role) -> Result<i64, DatabaseError> {
    let id = diesel::insert_into(users::table)
        .values((
            users::login.eq(login),
            users::display_name.eq(display_name),
            users::role.eq(role.name()),
        ))
        .returning(users::id)
        .get_result(db)?;
    Ok(id)
}

/// Changes the role of a user. Returns false if the login does not exist.
pub fn set_role(db: &mut Db, login: &str, role: Role) -> Result<bool, DatabaseError> {
    let rows = diesel::update(users::table.filter(users::login.eq(login)))
        .set(users::role.eq(role.name()))
        .execute(db)?;
    Ok(rows > 0)
}

/// Reads the ids of some of an author's rows.
pub fn rows_of(db: &mut Db, table: &str, author: i64) -> Result<Vec<i64>, DatabaseError> {
    let mut sql = Sql::new(db, "select id from ");
    sql.push(table).push(" where author_id = ").value(author).push(" order by id limit 100");
    sql.load_ids(db)
}

/// Transfers the images, the event tombstones and the subscriptions of a user to another one. Returns
/// the number of images.
pub fn give_images(db: &mut Db, from: i64, to: i64) -> Result<usize, DatabaseError> {
    let give =
        |table: &str| format!("update {table} set author_id = {to} where author_id = {from}");
    Sql::new(db, &give("event_tombstones")).execute(db)?;
    Sql::new(db, &give("subscriptions")).execute(db)?;
    Sql::new(db, &give("images")).execute(db)
}

/// Deletes a user who does not own any resources.
pub fn delete(db: &mut Db, id: i64) -> Result<(), DatabaseError> {
    diesel::delete(users::table.find(id)).execute(db)?;
    Ok(())
}

/// Lists all users by id.
pub fn list(db: &mut Db) -> Result<Vec<User>, DatabaseError> {
    let rows: Vec<Row> =
        users::table.order(users::id).select((users::id, users::login, users::role)).load(db)?;
    rows.into_iter().map(user).collect()
}
