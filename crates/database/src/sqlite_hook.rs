//! Options of SQLite connections that diesel cannot set.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int};
use std::ptr;
use std::sync::Once;

use libsqlite3_sys as ffi;

/// Sets options for all later SQLite connections of the process: statements keep their query plans,
/// and the WAL files are kept.
///
/// By default, SQLite uses the values of some parameters, such as the one of `LIMIT`, to plan a
/// statement, and plans it again for each new value. Here, plans do not depend on such values,
/// because the databases do not contain statistics.
///
/// When the last connection is closed, the files `-wal` and `-shm` are kept, with an empty WAL. On
/// a full or read-only disk they could not be created again, and SQLite cannot open the database
/// without them, not even for reading.
pub(crate) fn set_up_connections() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the function has the signature that SQLite expects, and is static.
        let code = unsafe { ffi::sqlite3_auto_extension(Some(set_up)) };
        if code != ffi::SQLITE_OK {
            log::warn!("SQLite connections lack their options: error {code}");
        }
    });
}

/// Called by SQLite for each connection that it opens.
unsafe extern "C" fn set_up(
    connection: *mut ffi::sqlite3,
    _message: *mut *mut c_char,
    _routines: *const ffi::sqlite3_api_routines,
) -> c_int {
    let mut stays: c_int = 1;
    // SAFETY: the connection is being opened and has its file already. The first call reads an integer and
    // does nothing if the database is not in a file. The second takes an integer and a pointer, which may
    // be null.
    unsafe {
        ffi::sqlite3_file_control(
            connection,
            c"main".as_ptr(),
            ffi::SQLITE_FCNTL_PERSIST_WAL,
            (&raw mut stays).cast(),
        );
        ffi::sqlite3_db_config(
            connection,
            ffi::SQLITE_DBCONFIG_ENABLE_QPSG,
            1 as c_int,
            ptr::null_mut::<c_int>(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_with_a_limit_is_planned_once() {
        set_up_connections();
        let (mut connection, mut statement) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the calls follow SQLite's documentation, texts end with a zero, and everything is closed.
        let planned_again = unsafe {
            assert_eq!(ffi::sqlite3_open(c":memory:".as_ptr(), &mut connection), ffi::SQLITE_OK);
            let text = c"SELECT 1 LIMIT ?";
            let end = ptr::null_mut();
            let code = ffi::sqlite3_prepare_v2(connection, text.as_ptr(), -1, &mut statement, end);
            assert_eq!(code, ffi::SQLITE_OK);
            for limit in [1, 2, 1] {
                assert_eq!(ffi::sqlite3_bind_int64(statement, 1, limit), ffi::SQLITE_OK);
                assert_eq!(ffi::sqlite3_step(statement), ffi::SQLITE_ROW);
                assert_eq!(ffi::sqlite3_reset(statement), ffi::SQLITE_OK);
            }
            let counter = ffi::SQLITE_STMTSTATUS_REPREPARE;
            let planned_again = ffi::sqlite3_stmt_status(statement, counter, 0);
            ffi::sqlite3_finalize(statement);
            ffi::sqlite3_close(connection);
            planned_again
        };
        assert_eq!(planned_again, 0);
    }
}
