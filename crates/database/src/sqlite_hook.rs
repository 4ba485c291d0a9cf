//! SQLite connection options that diesel can't set.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int};
use std::ptr;
use std::sync::Once;

use libsqlite3_sys as ffi;

/// Makes all SQLite connections that this process opens from now on keep their query plans and WAL
/// files.
///
/// By default, SQLite takes the values of some parameters, such as `LIMIT`, into account when
/// planning a statement, and plans it again whenever such a value changes. This doesn't help us,
/// because our databases don't contain statistics.
///
/// The `-wal` and `-shm` files are kept when the last connection is closed, with the WAL emptied.
/// On a full or read-only disk, they couldn't be created again, and without them SQLite can't open
/// the database, not even for reading.
pub(crate) fn set_up_connections() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the function is static and has the signature that SQLite expects.
        let code = unsafe { ffi::sqlite3_auto_extension(Some(set_up)) };
        if code != ffi::SQLITE_OK {
            log::warn!("SQLite connection options could not be set: error {code}");
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
    // SAFETY: the connection is being opened and already has its file. The first call reads an
    // integer, and does nothing if the database isn't in a file. The second call takes an integer,
    // and a pointer that can be null.
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
        // SAFETY: the calls follow SQLite's documentation, strings are NUL-terminated, and
        // everything is closed.
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
