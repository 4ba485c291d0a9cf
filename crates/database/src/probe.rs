//! Queries PostgreSQL with a deadline.
//!
//! diesel uses libpq's blocking calls, which have no response timeout. If a peer accepts
//! connections and acknowledges data but never responds, they block the thread forever. We
//! therefore use the non-blocking calls here.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::io::ErrorKind;
use std::ptr::{self, NonNull};
use std::time::{Duration, Instant};

use pq_sys as ffi;
use pq_sys::PostgresPollingStatusType::{
    PGRES_POLLING_OK, PGRES_POLLING_READING, PGRES_POLLING_WRITING,
};

/// The query that asks whether the server is a standby. The answer is `t` or `f`.
const QUESTION: &CStr = c"SELECT pg_is_in_recovery()";

pub(crate) struct Probe(NonNull<ffi::PGconn>);

// SAFETY: a libpq connection can be used from any thread, by one at a time, as `&mut self` ensures.
unsafe impl Send for Probe {}

impl Drop for Probe {
    fn drop(&mut self) {
        // SAFETY: the pointer is a connection that is only closed here.
        unsafe { ffi::PQfinish(self.0.as_ptr()) }
    }
}

impl Probe {
    /// Connects, or fails once the deadline has passed.
    ///
    /// # Errors
    /// Returns libpq's message, which can contain parts of the URL, or a message about the
    /// deadline.
    pub fn connect(url: &str, deadline: Instant) -> Result<Self, String> {
        let url = CString::new(url).map_err(|_| "the URL contains a NUL byte".to_owned())?;
        // SAFETY: the string is NUL-terminated and outlives the call.
        let started = unsafe { ffi::PQconnectStart(url.as_ptr()) };
        let probe = Self(NonNull::new(started).ok_or("out of memory")?);
        // SAFETY: the connection is valid.
        if unsafe { ffi::PQstatus(probe.0.as_ptr()) } == ffi::ConnStatusType::CONNECTION_BAD {
            return Err(probe.error());
        }
        // SAFETY: the connection is valid, and `ignore` has the signature libpq expects.
        unsafe { ffi::PQsetNoticeProcessor(probe.0.as_ptr(), Some(ignore), ptr::null_mut()) };
        // The first PQconnectPoll call must wait until the socket is writable.
        let mut wanted = PGRES_POLLING_WRITING;
        loop {
            let writes = wanted == PGRES_POLLING_WRITING;
            probe.wait(!writes, writes, deadline)?;
            // SAFETY: the connection is valid and its socket is ready.
            wanted = unsafe { ffi::PQconnectPoll(probe.0.as_ptr()) };
            match wanted {
                PGRES_POLLING_OK => break,
                PGRES_POLLING_READING | PGRES_POLLING_WRITING => {}
                _ => return Err(probe.error()),
            }
        }
        // SAFETY: the connection is valid.
        match unsafe { ffi::PQsetnonblocking(probe.0.as_ptr(), 1) } {
            0 => Ok(probe),
            _ => Err(probe.error()),
        }
    }

    /// Asks whether the server is a standby. The connection must not be used again after an error.
    ///
    /// # Errors
    /// Returns libpq's message, or a message about the deadline.
    pub fn is_standby(&mut self, deadline: Instant) -> Result<bool, String> {
        let conn = self.0.as_ptr();
        // SAFETY: the connection is valid and the string is NUL-terminated.
        if unsafe { ffi::PQsendQuery(conn, QUESTION.as_ptr()) } != 1 {
            return Err(self.error());
        }
        loop {
            // SAFETY: the connection is valid.
            let unsent = unsafe { ffi::PQflush(conn) };
            // SAFETY: the connection is valid.
            if unsent < 0 || unsafe { ffi::PQconsumeInput(conn) } != 1 {
                return Err(self.error());
            }
            // SAFETY: the connection is valid.
            if unsafe { ffi::PQisBusy(conn) } == 0 {
                break;
            }
            self.wait(true, unsent > 0, deadline)?;
        }
        self.answer(deadline)
    }

    /// Reads the entire response, so that another query can follow.
    fn answer(&mut self, deadline: Instant) -> Result<bool, String> {
        let conn = self.0.as_ptr();
        let mut answer = None;
        loop {
            // SAFETY: the connection is valid.
            while unsafe { ffi::PQisBusy(conn) } != 0 {
                self.wait(true, false, deadline)?;
                // SAFETY: the connection is valid.
                if unsafe { ffi::PQconsumeInput(conn) } != 1 {
                    return Err(self.error());
                }
            }
            // SAFETY: the connection is valid.
            let result = unsafe { ffi::PQgetResult(conn) };
            if result.is_null() {
                return answer.ok_or_else(|| self.error());
            }
            // SAFETY: the result is valid until it is cleared, and we only read its field if there
            // is a row.
            unsafe {
                if ffi::PQntuples(result) == 1 {
                    answer = Some(*ffi::PQgetvalue(result, 0, 0) == b't' as c_char);
                }
                ffi::PQclear(result);
            }
        }
    }

    /// Waits until the socket is readable or writable.
    fn wait(&self, read: bool, write: bool, deadline: Instant) -> Result<(), String> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            // SAFETY: the connection is valid, and the other two calls have no preconditions.
            let ready = unsafe {
                let socket = ffi::PQsocket(self.0.as_ptr());
                let end = ffi::PQgetCurrentTimeUSec().saturating_add(micros(left));
                ffi::PQsocketPoll(socket, c_int::from(read), c_int::from(write), end)
            };
            match ready {
                1.. => return Ok(()),
                0 => return Err("no response in time".to_owned()),
                _ => {}
            }
            let error = std::io::Error::last_os_error();
            if error.kind() != ErrorKind::Interrupted {
                return Err(error.to_string());
            }
        }
    }

    fn error(&self) -> String {
        // SAFETY: the connection is valid, and we copy the message before another call changes it.
        let text = unsafe { CStr::from_ptr(ffi::PQerrorMessage(self.0.as_ptr())) };
        text.to_string_lossy().into_owned()
    }
}

/// Discards warnings from the server, which libpq would print to stderr.
unsafe extern "C" fn ignore(_argument: *mut c_void, _message: *const c_char) {}

fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use diesel::prelude::*;
    use diesel::sql_types::Bool;

    use super::*;

    #[test]
    fn answers_equal_those_of_diesel() {
        let Ok(url) = std::env::var("TEST_DATABASE_URL") else { return };
        let mut conn = PgConnection::establish(&url).unwrap();
        let recovery = diesel::dsl::sql::<Bool>("pg_is_in_recovery()");
        let expected: bool = diesel::select(recovery).get_result(&mut conn).unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        let mut probe = Probe::connect(&url, deadline).unwrap();
        for _ in 0..3 {
            assert_eq!(probe.is_standby(deadline), Ok(expected));
        }
        let refused = Probe::connect("postgres://127.0.0.1:1/no_such_server", deadline);
        assert!(refused.err().unwrap().contains("Connection refused"));
    }
}
