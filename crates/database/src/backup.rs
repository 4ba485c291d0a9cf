//! Copies a SQLite database while it is in use.

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use diesel::prelude::*;
use diesel::sql_types::Text;

use crate::connect::{Connector, Role};
use crate::target::Target;
use crate::{DatabaseError, Db, SqliteOptions};

/// Writes a snapshot of the database to a new file, while other connections can still read and
/// write. The copy contains everything committed before it started, and nothing committed later.
pub(crate) fn copy_file(connector: &Connector, to: &Path) -> Result<(), DatabaseError> {
    let failed = |why: String| {
        DatabaseError::Setup(format!("cannot copy the database to {}: {why}", to.display()))
    };
    let text = to.to_str().ok_or_else(|| failed("its name is not UTF-8".to_owned()))?;
    let Db::Sqlite(mut conn) = connector.connect(Role::Job)? else { return Ok(()) };
    diesel::sql_query("VACUUM INTO ?")
        .bind::<Text, _>(text)
        .execute(&mut conn)
        .map_err(|error| failed(error.to_string()))?;
    // SQLite itself doesn't sync the new file.
    File::open(to).and_then(|file| file.sync_all()).map_err(|error| failed(error.to_string()))
}

/// Checks a database file for corruption.
fn check_file(path: &Path) -> Result<(), DatabaseError> {
    let target = Target::Sqlite(path.to_owned());
    let connector = Connector { target, sqlite: SqliteOptions::default(), read_only: false };
    let Db::Sqlite(mut conn) = connector.connect(Role::Reader)? else { return Ok(()) };
    check_pages(&mut conn, path)
}

/// Reads all pages of a database file, and checks them for corruption.
pub(crate) fn check_pages(conn: &mut SqliteConnection, path: &Path) -> Result<(), DatabaseError> {
    let found: String =
        diesel::dsl::sql::<Text>("SELECT quick_check FROM pragma_quick_check LIMIT 1")
            .get_result(conn)?;
    if found == "ok" {
        return Ok(());
    }
    // The first line only names the database.
    let fault = found.lines().find(|line| !line.starts_with("***")).unwrap_or(&found);
    Err(DatabaseError::Setup(format!("the database {} is damaged: {fault}", path.display())))
}

/// Restores a database file to a path that doesn't exist yet, provided that the copy is intact. We
/// never write to `from`, which might be on a read-only disk. The copy doesn't inherit its mode,
/// because that might be read-only or let other users read the file.
pub(crate) fn place_file(from: &Path, to: &Path) -> Result<(), DatabaseError> {
    let failed = |error: io::Error| {
        DatabaseError::Setup(format!("cannot write the database {}: {error}", to.display()))
    };
    let folder = match to.parent() {
        Some(folder) if folder != "" => folder,
        _ => Path::new("."),
    };
    let partial = to.with_added_extension("partial");
    let copy = || -> io::Result<()> {
        std::fs::create_dir_all(folder)?;
        // A restore that was killed might have left a partial copy behind.
        let _ = std::fs::remove_file(&partial);
        let mut options = File::options();
        let mut copy = options.write(true).create_new(true).mode(0o600).open(&partial)?;
        io::copy(&mut File::open(from)?, &mut copy)?;
        copy.sync_all()
    };
    let checked = copy().map_err(failed).and_then(|()| check_file(&partial));
    if let Err(error) = checked {
        let _ = std::fs::remove_file(&partial);
        let _ = remove_journals(&partial);
        return Err(error);
    }
    let place = || -> io::Result<()> {
        // SQLite would replay journals left over from an earlier database into this one.
        remove_journals(to)?;
        // The check has left some journals behind.
        remove_journals(&partial)?;
        std::fs::rename(&partial, to)?;
        File::open(folder)?.sync_all()
    };
    place().map_err(failed)
}

/// Removes the journals of a database file.
fn remove_journals(file: &Path) -> io::Result<()> {
    for journal in ["-wal", "-shm", "-journal"] {
        let mut name = file.as_os_str().to_owned();
        name.push(journal);
        if let Err(error) = std::fs::remove_file(&name)
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(error);
        }
    }
    Ok(())
}
