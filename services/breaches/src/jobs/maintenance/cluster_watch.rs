//! Monitors the servers of a distributed database, for `/readyz` and metrics.

use std::sync::LazyLock;
use std::time::Duration;

use prometheus::{Gauge, IntGaugeVec, Opts};
use shell::metrics::register;

use crate::state::State;
use crate::store::cluster::{self, Worker};

/// Time between checks.
const EVERY: Duration = Duration::from_secs(5);

static UP: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    let help = "Whether the server of the distributed database responds: 1 if it does, otherwise 0";
    register(IntGaugeVec::new(Opts::new("breaches_cluster_server_up", help), &["server"]))
});
static MISSING: LazyLock<Gauge> = LazyLock::new(|| {
    let help = "Fraction of accounts on servers that do not respond";
    register(Gauge::new("breaches_accounts_unreachable_ratio", help))
});

/// Runs forever, or returns immediately if everything is on one server.
pub async fn watch_cluster(state: State) {
    let (mut missing, mut is_failing) = (None, false);
    while state.layout().is_distributed() {
        match state.pools().read(cluster::workers).await {
            Ok(workers) => {
                is_failing = false;
                note(&workers);
                let now = unreachable(&workers);
                match &now {
                    Some(text) if missing != now => log::error!("the database is missing {text}"),
                    None if missing.is_some() => log::info!("the database is complete again"),
                    _ => {}
                }
                state.set_missing(now.clone());
                missing = now;
            }
            // The metrics and `/readyz` show the last known state until a check succeeds again.
            Err(error) if !is_failing => {
                is_failing = true;
                log::warn!("cannot check the servers of the database: {error}");
            }
            Err(_) => {}
        }
        tokio::time::sleep(EVERY).await;
    }
}

fn note(workers: &[Worker]) {
    // Forget servers that have been removed from the cluster.
    UP.reset();
    for worker in workers {
        UP.with_label_values(&[&worker.name]).set(worker.is_up.into());
    }
    let (lost, all) = parts(workers);
    MISSING.set(lost as f64 / all.max(1) as f64);
}

/// Returns the number of shards on unresponsive servers and the total number of shards.
fn parts(workers: &[Worker]) -> (i64, i64) {
    let lost = workers.iter().filter(|worker| !worker.is_up);
    (lost.map(|worker| worker.parts).sum(), workers.iter().map(|worker| worker.parts).sum())
}

/// Describes unreachable shards to the operator. `None` if all of them are reachable.
fn unreachable(workers: &[Worker]) -> Option<String> {
    let lost: Vec<&str> =
        workers.iter().filter(|worker| !worker.is_up).map(|worker| worker.name.as_str()).collect();
    let (missing, all) = parts(workers);
    (!lost.is_empty()).then(|| format!("{missing} of {all} account shards, on {}", lost.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unreachable_servers_are_named_with_their_parts() {
        let worker = |name: &str, parts, is_up| Worker { name: name.to_owned(), parts, is_up };
        let mut workers =
            [worker("a:1", 16, true), worker("b:2", 8, true), worker("c:3", 8, false)];
        let missing = unreachable(&workers);
        assert_eq!(missing.as_deref(), Some("8 of 32 account shards, on c:3"));
        workers[2].is_up = true;
        assert_eq!(unreachable(&workers), None);
    }
}
