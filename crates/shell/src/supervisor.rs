//! Notifies systemd (`Type=notify`). Does nothing without `NOTIFY_SOCKET`.

use std::time::Duration;

use sd_notify::NotifyState;

/// Reports that the service accepts requests.
pub(crate) fn ready() {
    send(&[NotifyState::Ready]);
}

/// Reports that files are being reloaded after a SIGHUP. Call [`ready`] afterwards.
pub(crate) fn reloading() {
    match NotifyState::monotonic_usec_now() {
        Ok(now) => send(&[NotifyState::Reloading, now]),
        Err(error) => log::debug!("systemd was not notified of the reload: {error}"),
    }
}

/// Reports that the server is stopping.
pub(crate) fn stopping() {
    send(&[NotifyState::Stopping]);
}

/// Sends two keep-alive messages per `WatchdogSec` as long as the main thread is running. If the
/// messages stop, systemd restarts the server. Does nothing if the watchdog is off.
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
        log::warn!("systemd was not notified: {error}");
    }
}
