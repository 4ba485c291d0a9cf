//! Messages to systemd (`Type=notify`). Without `NOTIFY_SOCKET` they have no effect.

use std::time::Duration;

use sd_notify::NotifyState;

/// Says that requests are answered.
pub(crate) fn ready() {
    send(&[NotifyState::Ready]);
}

/// Says that files are loaded again, because of SIGHUP. [`ready`] ends it.
pub(crate) fn reloading() {
    match NotifyState::monotonic_usec_now() {
        Ok(now) => send(&[NotifyState::Reloading, now]),
        Err(error) => log::debug!("the reload was not announced: {error}"),
    }
}

/// Says that the server stops.
pub(crate) fn stopping() {
    send(&[NotifyState::Stopping]);
}

/// Sends a sign of life twice in each `WatchdogSec`, while the main thread runs. Systemd restarts a server that
/// sends none. Does nothing without a watchdog.
pub(crate) async fn keep_alive() {
    let Some(limit) = sd_notify::watchdog_enabled().filter(|limit| *limit > Duration::ZERO) else {
        return;
    };
    let mut turns = tokio::time::interval(limit / 2);
    loop {
        turns.tick().await;
        send(&[NotifyState::Watchdog]);
    }
}

fn send(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        log::warn!("systemd was not told: {error}");
    }
}
