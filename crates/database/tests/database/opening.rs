//! Errors for the operator when the database cannot be opened.

use std::os::unix::net::UnixListener;

use database::{DatabaseError, DatabaseSettings, Db};
use testkit::Database;

fn refusal(url: &str) -> String {
    let settings =
        DatabaseSettings { database_url: Some(url.to_owned()), ..DatabaseSettings::default() };
    let folder = Database::in_file();
    let error = settings.open(folder.folder(), "notes", &[]).unwrap_err();
    assert!(matches!(error, DatabaseError::Setup(_)), "{error:?}");
    error.to_string()
}

#[test]
fn unknown_scheme_error_is_one_line_without_the_password() {
    assert_eq!(
        refusal("mysql://root:geheim@localhost/notes"),
        "DATABASE_URL must start with sqlite:// or postgres://, not with mysql:"
    );
}

#[test]
fn empty_url_is_refused() {
    assert!(refusal("  ").starts_with("DATABASE_URL is empty: "));
}

#[test]
fn unavailable_server_is_reported_without_the_password() {
    let text = refusal("postgres://root:geheim@127.0.0.1:1/notes");
    assert!(text.starts_with("cannot connect to PostgreSQL: "), "{text}");
    assert!(text.contains("127.0.0.1") && !text.contains("geheim"), "{text}");
    assert!(!text.contains('\n'), "{text}");
}

#[test]
fn malformed_server_url_is_not_in_the_error() {
    for url in [
        "postgres://root:ge%heim@127.0.0.1/notes",
        "postgres://root:my@geheim@127.0.0.1/notes",
        "postgres://root:12/geheim@127.0.0.1/notes",
        "postgres://root:my@geheim/x@127.0.0.1/notes",
        "postgres://root:my?x@geheim@127.0.0.1/notes",
        "postgres://root:1?geheim=/x@127.0.0.1/notes",
        "postgres://root:my@127.0.0.1/x?geheim=1@127.0.0.1/notes",
        "postgres://127.0.0.1?user=root&password=my@geheim",
        "postgres://127.0.0.1:geheim/notes",
        "postgres://root:geheim@127.0.0.1:port/notes",
    ] {
        let text = refusal(url);
        assert!(text.contains("not a well-formed PostgreSQL URL"), "{text}");
        assert!(text.contains("postgres://USER:PASSWORD@HOST:PORT/DATABASE"), "{text}");
        assert!(!text.contains("geheim") && !text.contains("root"), "{text}");
    }
}

#[test]
fn unknown_parameter_is_named_without_values() {
    assert_eq!(
        refusal("postgres://root@127.0.0.1:1/notes?password=geheim&bogus=1"),
        "cannot connect to PostgreSQL: DATABASE_URL has an unknown parameter: bogus"
    );
    let text = refusal("postgres://root@127.0.0.1:1/notes?password=x&Ge%20heim=1");
    assert!(text.contains("not a well-formed PostgreSQL URL"), "{text}");
}

#[test]
fn credentials_without_a_scheme_are_not_in_the_error() {
    for url in ["root:geheim@127.0.0.1/notes", "geheim:root@127.0.0.1/notes", "geheim"] {
        let text = refusal(url);
        assert!(text.ends_with("it has no scheme"), "{text}");
        assert!(!text.contains("geheim") && !text.contains("root"), "{text}");
    }
}

#[test]
fn file_that_is_not_a_database_is_reported() {
    let folder = Database::in_file();
    let path = folder.folder().join("letter.txt");
    std::fs::write(&path, "Dear reader, this is not a database at all.".repeat(200)).unwrap();
    let text = refusal(&format!("sqlite://{}", path.display()));
    assert!(text.contains("letter.txt") && text.contains("not a database"), "{text}");
}

#[test]
fn journals_that_cannot_be_created_are_named() {
    let database = Database::in_file();
    let file = database.file().unwrap();
    drop(database.open(&[]));
    for ending in ["wal", "shm"] {
        let _ = std::fs::remove_file(file.with_extension(format!("db-{ending}")));
    }
    // As on a read-only disk, SQLite can't create this file, not even as root.
    std::fs::create_dir(file.with_extension("db-wal")).unwrap();
    let text = database.settings().open(database.folder(), "test", &[]).unwrap_err().to_string();
    let cause = format!(
        "SQLite needs to create test.db-wal and test.db-shm in the folder {}, which must be writable",
        database.folder().display()
    );
    assert!(text.ends_with(&cause), "{text}");
}

#[test]
fn file_that_cannot_be_read_is_reported_with_the_cause() {
    let folder = Database::in_file();
    let path = folder.folder().join("test.socket");
    // Unlike a file with restricted permissions, not even root can open a socket.
    let _socket = UnixListener::bind(&path).unwrap();
    let text = refusal(&format!("sqlite://{}", path.display()));
    assert!(text.ends_with(": No such device or address (os error 6)"), "{text}");
    assert!(!text.contains("writable"), "{text}");
}

#[test]
fn paths_of_the_wrong_kind_are_refused_with_the_setting() {
    let database = Database::in_file();
    let folder = database.folder();
    let text = refusal(&format!("sqlite://{}", folder.display()));
    assert!(text.starts_with("DATABASE_URL: ") && text.contains(" is a folder, but "), "{text}");
    assert!(text.ends_with("DATABASE_URL=sqlite:///var/lib/notes/notes.db"), "{text}");
    let data_dir = folder.join("letter.txt");
    std::fs::write(&data_dir, "Dear reader").unwrap();
    let text = refusal(&format!("sqlite://{}/a/notes.db", data_dir.display()));
    assert!(text.starts_with("DATABASE_URL: ") && text.contains(" is a file, but "), "{text}");
    let settings = DatabaseSettings::default();
    for data_dir in [data_dir.clone(), data_dir.join("a")] {
        let opened = settings.open(&data_dir, "notes", &[]).unwrap_err().to_string();
        assert!(opened.starts_with("DATA_DIR: ") && opened.contains("letter.txt is a file, but "));
        assert_eq!(settings.preview(&data_dir, "notes", &[]).unwrap_err().to_string(), opened);
    }
}

#[test]
fn database_that_cannot_be_created_is_reported_with_the_setting() {
    // Files cannot be created there, not even by root.
    let text = refusal("sqlite:///proc/notes/notes.db");
    assert!(text.starts_with("cannot create the database /proc/notes/notes.db (DATABASE_URL): "));
}

#[test]
fn folder_is_created_with_the_default_file() {
    let temporary = Database::in_file();
    let data = temporary.folder().join("a/b");
    DatabaseSettings::default().open(&data, "notes", &[]).unwrap();
    assert!(data.join("notes.db").is_file());
}

#[test]
fn only_the_owner_may_read_a_new_file() {
    use std::os::unix::fs::PermissionsExt;

    use diesel::prelude::*;
    let temporary = Database::in_file();
    let pools = DatabaseSettings::default().open(temporary.folder(), "private", &[]).unwrap();
    let write = |db: &mut Db| -> Result<usize, DatabaseError> {
        Ok(diesel::sql_query("CREATE TABLE note (id INTEGER)").execute(db)?)
    };
    pools.write_blocking(write).unwrap();
    for name in ["private.db", "private.db-wal"] {
        let file = temporary.folder().join(name).metadata().unwrap();
        assert_eq!(file.permissions().mode() & 0o777, 0o600, "{name}");
    }
}

#[test]
fn page_size_applies_to_a_new_file() {
    use diesel::prelude::*;
    let temporary = Database::in_file();
    let mut settings = DatabaseSettings::default();
    settings.sqlite.page_size = Some(8192);
    let pools = settings.open(temporary.folder(), "notes", &[]).unwrap();
    let pragma = |name: &'static str| {
        pools
            .read_blocking(|db| -> Result<String, DatabaseError> {
                let sql = format!("(SELECT CAST({name} AS TEXT) FROM pragma_{name})");
                let value = diesel::dsl::sql::<diesel::sql_types::Text>(&sql);
                Ok(diesel::select(value).get_result(db)?)
            })
            .unwrap()
    };
    assert_eq!(pragma("page_size"), "8192");
    assert_eq!(pragma("journal_mode"), "wal");
    assert_eq!(pragma("foreign_keys"), "1");
}
