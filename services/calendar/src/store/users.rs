//! Users. They own keys and author resources.

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::schema::users;
use super::sql::Sql;
use crate::model::role::{Role, User};

type Row = (i64, String, String);

fn user((id, login, role): Row) -> Result<User, DatabaseError> {
    let role = Role::named(&role)
        .ok_or_else(|| DatabaseError::broken("a user does not have a known role"))?;
    Ok(User { id, login, role })
}

/// Finds a user by login.
pub fn by_login(db: &mut Db, login: &str) -> Result<Option<User>, DatabaseError> {
    let row: Option<Row> = users::table
        .filter(users::login.eq(login))
        .select((users::id, users::login, users::role))
        .first(db)
        .optional()?;
    row.map(user).transpose()
}

pub fn exists(db: &mut Db, id: i64) -> Result<bool, DatabaseError> {
    Ok(users::table.find(id).count().get_result::<i64>(db)? > 0)
}

/// Returns whether there are any users.
pub fn any(db: &mut Db) -> Result<bool, DatabaseError> {
    Ok(users::table.count().get_result::<i64>(db)? > 0)
}

/// Adds a user. Fails with a conflict if the login is taken.
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

/// Changes a user's role.
pub fn set_role(db: &mut Db, id: i64, role: Role) -> Result<(), DatabaseError> {
    diesel::update(users::table.find(id)).set(users::role.eq(role.name())).execute(db)?;
    Ok(())
}

/// Returns up to 100 ids of an author's rows.
pub fn rows_of(db: &mut Db, table: &str, author: i64) -> Result<Vec<i64>, DatabaseError> {
    let mut sql = Sql::new(db, "select id from ");
    sql.push(table).push(" where author_id = ").value(author).push(" order by id limit 100");
    sql.load_ids(db)
}

/// Transfers a user's images, event tombstones and subscriptions to another user. Returns the
/// number of images. Runs in progress lose their leases, because they still write as the old user.
pub fn give_images(db: &mut Db, from: i64, to: i64) -> Result<usize, DatabaseError> {
    let give =
        |table: &str| format!("update {table} set author_id = {to} where author_id = {from}");
    Sql::new(db, &give("event_tombstones")).execute(db)?;
    let text = format!(
        "update subscriptions set author_id = {to}, lease = null, lease_until = 0 \
         where author_id = {from}"
    );
    Sql::new(db, &text).execute(db)?;
    Sql::new(db, &give("images")).execute(db)
}

/// Deletes a user. They must not own any resources.
pub fn delete(db: &mut Db, id: i64) -> Result<(), DatabaseError> {
    diesel::delete(users::table.find(id)).execute(db)?;
    Ok(())
}

/// Returns all users, ordered by id.
pub fn list(db: &mut Db) -> Result<Vec<User>, DatabaseError> {
    let rows: Vec<Row> =
        users::table.order(users::id).select((users::id, users::login, users::role)).load(db)?;
    rows.into_iter().map(user).collect()
}
