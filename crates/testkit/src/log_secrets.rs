//! Checks that logs don't contain secrets.

use reqwest::Method;

use crate::{Exchange, Served, until_blocking};

/// Sends requests to a server that logs everything, and checks that none of the log lines contains
/// a query string or any of the `secrets`. Also sends a trace ID, and checks that it is logged.
/// Returns the access log lines.
///
/// `paths` can have query strings. A parameter name without a value is added to each of them. The
/// server has to run with `RUST_LOG=trace`.
///
/// # Panics
/// Panics if a line contains a secret or a query string.
pub async fn log_without(served: &Served, paths: &[&str], secrets: &[&str]) -> Vec<String> {
    const NAME: &str = "fe2b7a90c1d34e5f";
    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    let accessed = |log: &str| log.lines().filter(|line| line.contains("access")).count();
    let before = accessed(&served.log());
    for path in paths {
        let mark = if path.contains('?') { '&' } else { '?' };
        for method in [Method::GET, Method::POST] {
            let request = served.request(method, &format!("{path}{mark}{NAME}"));
            let request = request.header("traceparent", format!("00-{TRACE}-00f067aa0ba902b7-01"));
            request.header("user-agent", "tests/1 \tx").answer().await;
        }
    }
    let wanted = before + 2 * paths.len();
    until_blocking("all requests are logged", || accessed(&served.log()) >= wanted);
    let log = served.log().clone();
    for line in log.lines() {
        let shown = line.to_lowercase();
        for secret in secrets.iter().chain(&[NAME]) {
            assert!(!shown.contains(&secret.to_lowercase()), "{secret} is in the log: {line}");
        }
    }
    let lines: Vec<_> = log.lines().filter(|line| line.contains("access")).collect();
    let traced = lines.iter().filter(|line| line.contains(&format!(" trace_id={TRACE} span_id=")));
    assert_eq!(traced.count(), 2 * paths.len(), "{lines:?}");
    lines.into_iter().map(str::to_owned).collect()
}
