//! Handles SIGTERM, SIGINT and SIGHUP right from the start of `main`.
//!
//! `main` blocks the three signals, so the kernel holds back any that arrive while the command line
//! is being parsed. A server then receives them on a separate thread. SIGTERM and SIGINT stop it
//! gracefully, or exit immediately with code 0 if its ports aren't open yet. SIGHUP stays pending
//! until the server is running. Other commands unblock the signals, which keep their default
//! actions.
#![allow(unsafe_code)]

use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU8, Ordering};

use libc::{SIG_BLOCK, SIG_UNBLOCK, SIGHUP, SIGINT, SIGTERM, c_int};
use tokio::sync::watch;

use crate::logs;

/// The name of the signal that stopped the server, if any.
static STOP: LazyLock<watch::Sender<Option<&str>>> = LazyLock::new(|| watch::Sender::new(None));
/// The number of SIGHUPs received.
static HANGUPS: LazyLock<watch::Sender<u64>> = LazyLock::new(|| watch::Sender::new(0));
/// One of the phases below, which decides what SIGTERM and SIGINT do. Whichever phase first
/// replaces [`STARTING`] wins.
static PHASE: AtomicU8 = AtomicU8::new(STARTING);
/// A signal would end the process immediately.
const STARTING: u8 = 0;
/// The server handles signals.
const SERVING: u8 = 1;
/// The process is exiting.
const ENDING: u8 = 2;

/// Blocks the signals in this thread and in the threads it creates.
pub(crate) fn hold() {
    change_mask(SIG_BLOCK);
}

/// Unblocks the signals, which makes pending ones take their default action.
pub(crate) fn release() {
    change_mask(SIG_UNBLOCK);
}

/// Starts the thread that receives blocked signals.
///
/// # Errors
/// Returns an error if the thread cannot be created.
pub(crate) fn receive() -> io::Result<()> {
    let thread = std::thread::Builder::new().name("signals".to_owned());
    thread.spawn(receive_forever).map(drop)
}

/// Waits for SIGTERM or SIGINT, and returns the name of the signal. As soon as this is called, even
/// before the first poll, the caller is responsible for stopping the server. Never returns if a
/// signal is already ending the process.
pub(crate) fn stop() -> impl Future<Output = &'static str> {
    let mut stop = STOP.subscribe();
    if begin(SERVING) == Err(ENDING) {
        loop {
            std::thread::park();
        }
    }
    async move {
        match stop.wait_for(Option::is_some).await {
            Ok(name) => name.unwrap_or_default(),
            // The sender is never dropped.
            Err(_) => std::future::pending().await,
        }
    }
}

/// Receives SIGHUPs, which ask the server to reload its files.
#[derive(Debug)]
pub struct Hangups(watch::Receiver<u64>);

impl Hangups {
    /// Subscribes to SIGHUP. If one has already arrived, [`next`](Self::next) returns immediately.
    pub fn subscribe() -> Self {
        let mut hangups = HANGUPS.subscribe();
        if *hangups.borrow() > 0 {
            hangups.mark_changed();
        }
        Self(hangups)
    }

    /// Waits for the next SIGHUP. If several arrive at once, they count as one.
    pub async fn next(&mut self) {
        if self.0.changed().await.is_err() {
            // The sender is never dropped.
            std::future::pending().await
        }
    }
}

fn receive_forever() {
    loop {
        let name = match wait() {
            Ok(SIGHUP) => {
                HANGUPS.send_modify(|number| *number += 1);
                continue;
            }
            Ok(SIGINT) => "SIGINT",
            Ok(_) => "SIGTERM",
            Err(error) => {
                log::error!("signals cannot be received: {error}");
                return;
            }
        };
        if begin(ENDING).is_ok() {
            log::info!("{name}: stopped during startup");
            logs::flush();
            // SAFETY: the function ends the process. It doesn't run exit handlers, which might
            // interfere with threads that are still starting the server.
            unsafe { libc::_exit(0) };
        }
        STOP.send_replace(Some(name));
    }
}

/// Moves from [`STARTING`] to `phase`.
///
/// # Errors
/// Returns the current phase if it isn't [`STARTING`] any longer.
fn begin(phase: u8) -> Result<u8, u8> {
    PHASE.compare_exchange(STARTING, phase, Ordering::SeqCst, Ordering::SeqCst)
}

/// Waits for one of the blocked signals and returns its number.
fn wait() -> io::Result<c_int> {
    let mut signal = 0;
    // SAFETY: both pointers are valid during the call.
    match unsafe { libc::sigwait(&handled(), &mut signal) } {
        0 => Ok(signal),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

fn change_mask(how: c_int) {
    // SAFETY: the set is valid during the call, and we don't ask for the old mask. The only error
    // is an unknown value of `how`.
    unsafe { libc::pthread_sigmask(how, &handled(), ptr::null_mut()) };
}

fn handled() -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: `sigemptyset` initializes the set, and the numbers are valid signals.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in [SIGTERM, SIGINT, SIGHUP] {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
        set.assume_init()
    }
}
