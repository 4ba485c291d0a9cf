//! What the access log shows of requests, and what it never shows.

use std::sync::{Mutex, Once};

use calendar::Calendar;
use log::kv::Key;
use shell::Switch;
use testkit::TestServer;

use crate::app::{App, NS};

/// Request targets of the access log, of all tests of this process.
static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Keeps what the access log shows of request targets.
struct Keeper;

impl log::Log for Keeper {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.target() == "access"
    }

    fn log(&self, record: &log::Record<'_>) {
        if self.enabled(record.metadata()) {
            let target = record.key_values().get(Key::from_str("path"));
            SEEN.lock().unwrap().extend(target.map(|target| target.to_string()));
        }
    }

    fn flush(&self) {}
}

#[actix_web::test]
async fn passwords_of_events_are_not_logged() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        log::set_logger(&Keeper).unwrap();
        log::set_max_level(log::LevelFilter::Info);
    });
    let app = App::new().await;
    let calendar = Calendar { state: app.state.clone() };
    let server = TestServer::start_with(calendar, |web| web.access_log = Switch::On).await;
    for (sent, logged) in [
        ("password=hush", "password=***"),
        ("page=1&%70assword=hush&_fields=total", "page=1&password=***&_fields=total"),
        ("password[]=hush&password%5B0%5D=hush", "password=***&password=***"),
        ("%50assword=hush&passwords=hush", "Password=***&passwords=***"),
    ] {
        for path in [NS, "/wp-json/tribe/events/v1"] {
            server.get(&format!("{path}/events?{sent}")).send().await.unwrap();
            let shown = format!("{path}/events?{logged}");
            let seen = SEEN.lock().unwrap();
            assert!(seen.contains(&shown), "{shown} is not among {seen:?}");
            assert!(!seen.iter().any(|target| target.contains("hush")), "{seen:?}");
        }
    }
}
