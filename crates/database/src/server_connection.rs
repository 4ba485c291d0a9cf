//! A PostgreSQL connection that doesn't block.
//!
//! diesel uses libpq's blocking calls, which have no response timeout. If a peer accepts
//! connections and acknowledges data but never responds, they block the thread forever. We
//! therefore use the non-blocking calls here.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::io::ErrorKind;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::task::Poll;
use std::time::{Duration, Instant};

use pq_sys as ffi;
use pq_sys::PostgresPollingStatusType::{
    PGRES_POLLING_OK, PGRES_POLLING_READING, PGRES_POLLING_WRITING,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// The name of the prepared query.
const PREPARED: &CStr = c"number";

/// A connection that must not be used again after an error.
pub(crate) struct ServerConnection {
    raw: NonNull<ffi::PGconn>,
    /// The value in the part of the response that has been read so far.
    value: Option<String>,
}

// SAFETY: a libpq connection can be used from any thread, by one at a time, as `&mut self` ensures.
unsafe impl Send for ServerConnection {}

impl Drop for ServerConnection {
    fn drop(&mut self) {
        // SAFETY: the pointer is a connection that is only closed here.
        unsafe { ffi::PQfinish(self.raw.as_ptr()) }
    }
}

impl ServerConnection {
    /// Connects, or fails once the deadline has passed.
    ///
    /// # Errors
    /// Returns libpq's message, which can contain parts of the URL, or a message about the
    /// deadline.
    pub fn connect(url: &str, deadline: Instant) -> Result<Self, String> {
        let url = CString::new(url).map_err(|_| "the URL contains a NUL byte".to_owned())?;
        // SAFETY: the string is NUL-terminated and outlives the call.
        let started = unsafe { ffi::PQconnectStart(url.as_ptr()) };
        let raw = NonNull::new(started).ok_or("out of memory")?;
        let connection = Self { raw, value: None };
        // SAFETY: the connection is valid.
        if unsafe { ffi::PQstatus(raw.as_ptr()) } == ffi::ConnStatusType::CONNECTION_BAD {
            return Err(connection.error());
        }
        // SAFETY: the connection is valid, and `ignore` has the signature libpq expects.
        unsafe { ffi::PQsetNoticeProcessor(raw.as_ptr(), Some(ignore), ptr::null_mut()) };
        // The first PQconnectPoll call must wait until the socket is writable.
        let mut wanted = PGRES_POLLING_WRITING;
        loop {
            let writes = wanted == PGRES_POLLING_WRITING;
            connection.wait(!writes, writes, deadline)?;
            // SAFETY: the connection is valid and its socket is ready.
            wanted = unsafe { ffi::PQconnectPoll(raw.as_ptr()) };
            match wanted {
                PGRES_POLLING_OK => break,
                PGRES_POLLING_READING | PGRES_POLLING_WRITING => {}
                _ => return Err(connection.error()),
            }
        }
        // SAFETY: the connection is valid.
        match unsafe { ffi::PQsetnonblocking(raw.as_ptr(), 1) } {
            0 => Ok(connection),
            _ => Err(connection.error()),
        }
    }

    /// Returns the value of an SQL expression as text.
    ///
    /// # Errors
    /// Returns libpq's message, or a message about the deadline.
    pub fn evaluate(&mut self, expression: &str, deadline: Instant) -> Result<String, String> {
        let query = CString::new(format!("SELECT {expression}"));
        let query = query.map_err(|error| error.to_string())?;
        self.query(&query, deadline)?.ok_or_else(|| self.error())
    }

    /// Prepares the query for [`send_prepared`](Self::send_prepared). From then on, the server
    /// cancels queries after `limit`.
    ///
    /// # Errors
    /// Returns libpq's message, or a message about the deadline.
    pub fn prepare(
        &mut self,
        query: &CStr,
        limit: Duration,
        deadline: Instant,
    ) -> Result<(), String> {
        let limit = format!("SET statement_timeout = {}", limit.as_millis());
        let limit = CString::new(limit).map_err(|error| error.to_string())?;
        self.query(&limit, deadline)?;
        // SAFETY: the connection is valid, both strings are NUL-terminated, and without
        // parameters, the list of their types can be null.
        let sent = unsafe {
            ffi::PQsendPrepare(self.raw.as_ptr(), PREPARED.as_ptr(), query.as_ptr(), 0, ptr::null())
        };
        self.complete(sent, deadline).map(drop)
    }

    /// Sends the prepared query. The response must be received before the next call.
    ///
    /// # Errors
    /// Returns libpq's message.
    pub fn send_prepared(&mut self) -> Result<(), String> {
        let nothing = ptr::null();
        // SAFETY: the connection is valid, the string is NUL-terminated, and there are no
        // parameters, so that null pointers are allowed.
        let sent = unsafe {
            ffi::PQsendQueryPrepared(
                self.raw.as_ptr(),
                PREPARED.as_ptr(),
                0,
                ptr::null(),
                nothing,
                nothing,
                0,
            )
        };
        // A message of this size always fits the socket's buffer. If it doesn't, the peer hasn't
        // read anything for a long time.
        match sent == 1 && self.flush()? {
            true => Ok(()),
            false => Err(self.error()),
        }
    }

    /// Reads what has arrived. Once the response is complete, returns the value in its first row
    /// and column, or `None` if there are no rows.
    ///
    /// # Errors
    /// Returns the server's or libpq's message.
    pub fn receive(&mut self) -> Poll<Result<Option<String>, String>> {
        let raw = self.raw.as_ptr();
        // SAFETY: the connection is valid.
        if unsafe { ffi::PQconsumeInput(raw) } != 1 {
            return Poll::Ready(Err(self.error()));
        }
        // SAFETY: the connection is valid.
        while unsafe { ffi::PQisBusy(raw) } == 0 {
            // SAFETY: the connection is valid.
            let result = unsafe { ffi::PQgetResult(raw) };
            if result.is_null() {
                return Poll::Ready(Ok(self.value.take()));
            }
            // SAFETY: the result is valid until it is cleared, we only read its field if there is a
            // row, and the text is copied.
            let succeeded = unsafe {
                use pq_sys::ExecStatusType::{PGRES_COMMAND_OK, PGRES_TUPLES_OK};
                let status = ffi::PQresultStatus(result);
                if ffi::PQntuples(result) > 0 {
                    let value = CStr::from_ptr(ffi::PQgetvalue(result, 0, 0));
                    self.value = Some(value.to_string_lossy().into_owned());
                }
                ffi::PQclear(result);
                status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK
            };
            if !succeeded {
                return Poll::Ready(Err(self.error()));
            }
        }
        Poll::Pending
    }

    /// Returns a handle that becomes readable when something has arrived, for use in the current
    /// tokio runtime.
    ///
    /// # Errors
    /// Returns the operating system's message.
    pub fn readiness(&self) -> Result<AsyncFd<OwnedFd>, String> {
        // SAFETY: the connection is valid, and so is its socket during this call. The runtime gets
        // a descriptor of its own, because libpq closes the socket after some errors.
        let readiness = unsafe {
            let socket = ffi::PQsocket(self.raw.as_ptr());
            let socket = match socket {
                0.. => BorrowedFd::borrow_raw(socket).try_clone_to_owned(),
                _ => return Err("the connection is closed".to_owned()),
            };
            AsyncFd::register_with_interest(
                socket.map_err(|error| error.to_string())?,
                Interest::READABLE,
            )
        };
        readiness.map_err(|error| error.to_string())
    }

    /// Sends a query and waits for the value in the first row and column of its response.
    fn query(&mut self, query: &CStr, deadline: Instant) -> Result<Option<String>, String> {
        // SAFETY: the connection is valid and the string is NUL-terminated.
        let sent = unsafe { ffi::PQsendQuery(self.raw.as_ptr(), query.as_ptr()) };
        self.complete(sent, deadline)
    }

    /// Waits for the response to a query. `sent` is libpq's result of sending it.
    fn complete(&mut self, sent: c_int, deadline: Instant) -> Result<Option<String>, String> {
        if sent != 1 {
            return Err(self.error());
        }
        loop {
            let is_sent = self.flush()?;
            if let Poll::Ready(response) = self.receive() {
                return response;
            }
            self.wait(true, !is_sent, deadline)?;
        }
    }

    /// Sends buffered data. Returns false if the socket doesn't take all of it yet.
    fn flush(&mut self) -> Result<bool, String> {
        // SAFETY: the connection is valid.
        match unsafe { ffi::PQflush(self.raw.as_ptr()) } {
            0 => Ok(true),
            1 => Ok(false),
            _ => Err(self.error()),
        }
    }

    /// Waits until the socket is readable or writable.
    fn wait(&self, read: bool, write: bool, deadline: Instant) -> Result<(), String> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            // SAFETY: the connection is valid, and the other two calls have no preconditions.
            let ready = unsafe {
                let socket = ffi::PQsocket(self.raw.as_ptr());
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
        let text = unsafe { CStr::from_ptr(ffi::PQerrorMessage(self.raw.as_ptr())) };
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
        let is_standby: bool = diesel::select(recovery).get_result(&mut conn).unwrap();
        let expected = if is_standby { "t" } else { "f" };
        let deadline = Instant::now() + Duration::from_secs(60);
        let mut connection = ServerConnection::connect(&url, deadline).unwrap();
        for _ in 0..3 {
            let answer = connection.evaluate("pg_is_in_recovery()", deadline);
            assert_eq!(answer.as_deref(), Ok(expected));
        }
        let limit = Duration::from_secs(60);
        let faulty = connection.prepare(c"SELECT no_such_column", limit, deadline);
        assert!(faulty.unwrap_err().contains("no_such_column"));
        let refused = ServerConnection::connect("postgres://127.0.0.1:1/no_such_server", deadline);
        assert!(refused.err().unwrap().contains("Connection refused"));
    }
}
