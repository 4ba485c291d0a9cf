//! Messages to systemd (`Type=notify`). Without `NOTIFY_SOCKET` they have no effect.

use std::time::Duration;

use sd_notify::NotifyState;

/// Reports that the service accepts requests.
pub(crate) fn ready() {
    send(&[NotifyState::Ready]);
}

/// Reports that files are being reloaded because of SIGHUP. Call [`ready`] afterwards.
pub(crate) fn reloading() {
    match NotifyState::monotonic_usec_now() {
        Ok(now) => send(&[NotifyState::Reloading, now]),
        Err(error) => log::debug!("the reload was not announced: {error}"),
    }
}

/// Reports that the server is stopping.
pub(crate) fn stopping() {
    send(&[NotifyState::Stopping]);
}

/// Sends a keep-alive message twice per `WatchdogSec` while the main thread runs. Systemd restarts
/// a server that stops sending. Does nothing if the watchdog is not enabled.
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
