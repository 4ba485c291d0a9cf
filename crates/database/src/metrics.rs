//! Pool metrics, registered with the default registry of the `prometheus` crate.

use std::sync::{LazyLock, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use prometheus::core::{Collector, Desc};
use prometheus::proto::MetricFamily;
use prometheus::{Histogram, HistogramOpts, HistogramVec, IntCounter, IntGauge, IntGaugeVec, Opts};

pub(crate) struct PoolState {
    pub name: &'static str,
    pub size: u32,
    pub open: u32,
    pub in_use: u32,
}

/// Pools that report their state.
pub(crate) trait Observed: Send + Sync {
    /// Returns the current state of each pool.
    fn states(&self) -> Vec<PoolState>;
}

type Observer = Weak<dyn Observed>;

const POOL: &str = "pool";

static WAIT: LazyLock<HistogramVec> = LazyLock::new(|| {
    let help = "Time spent waiting for a connection, for requests that had to wait";
    let buckets = vec![0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];
    let options = HistogramOpts::new("database_pool_wait_seconds", help).buckets(buckets);
    registered(HistogramVec::new(options, &[POOL]))
});
static WAITING: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    let options = Opts::new("database_pool_waiting", "Requests waiting for a connection");
    registered(IntGaugeVec::new(options, &[POOL]))
});
static TIMEOUTS: LazyLock<prometheus::IntCounterVec> = LazyLock::new(|| {
    let help = "Requests rejected because no connection became free in time";
    let options = Opts::new("database_pool_timeouts_total", help);
    registered(prometheus::IntCounterVec::new(options, &[POOL]))
});
static STATES: LazyLock<&'static Mutex<Vec<Observer>>> = LazyLock::new(|| {
    static POOLS: Mutex<Vec<Observer>> = Mutex::new(Vec::new());
    let gauge = |name: &str, help: &str| IntGaugeVec::new(Opts::new(name, help), &[POOL]);
    let gauges = (
        gauge("database_pool_size", "Maximum number of connections in a pool"),
        gauge("database_pool_open", "Open connections in a pool"),
        gauge("database_pool_in_use", "Connections in use"),
    );
    if let (Ok(size), Ok(open), Ok(in_use)) = gauges {
        register(Box::new(States { size, open, in_use }));
    }
    &POOLS
});

fn registered<C: Collector + Clone + 'static>(collector: prometheus::Result<C>) -> C {
    #[expect(clippy::expect_used, reason = "names and labels are constants that tests exercise")]
    let collector = collector.expect("metric options are valid");
    register(Box::new(collector.clone()));
    collector
}

fn register(collector: Box<dyn Collector>) {
    if let Err(error) = prometheus::register(collector) {
        log::error!("a metric of the database is missing: {error}");
    }
}

/// Adds the pools of a service to the metrics.
pub(crate) fn watch(pools: Observer) {
    let mut watched = STATES.lock();
    watched.retain(|pools| pools.strong_count() > 0);
    watched.push(pools);
}

pub(crate) struct PoolMetrics {
    pub(crate) name: &'static str,
    waiting: IntGauge,
    wait: Histogram,
    timeouts: IntCounter,
}

impl PoolMetrics {
    pub(crate) fn new(name: &'static str) -> Self {
        Self {
            name,
            waiting: WAITING.with_label_values(&[name]),
            wait: WAIT.with_label_values(&[name]),
            timeouts: TIMEOUTS.with_label_values(&[name]),
        }
    }

    /// Counts a request as waiting until the returned guard is dropped.
    pub(crate) fn wait(&self) -> Waiting<'_> {
        self.waiting.inc();
        Waiting { metrics: self, since: Instant::now() }
    }

    pub(crate) fn count_timeout(&self) {
        self.timeouts.inc();
    }
}

pub(crate) struct Waiting<'a> {
    metrics: &'a PoolMetrics,
    since: Instant,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.metrics.waiting.dec();
        self.metrics.wait.observe(Duration::as_secs_f64(&self.since.elapsed()));
    }
}

/// Reads the state of the pools only when metrics are collected, so that using the pools costs
/// nothing.
struct States {
    size: IntGaugeVec,
    open: IntGaugeVec,
    in_use: IntGaugeVec,
}

impl Collector for States {
    fn desc(&self) -> Vec<&Desc> {
        [&self.size, &self.open, &self.in_use].into_iter().flat_map(Collector::desc).collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let gauges = [&self.size, &self.open, &self.in_use];
        // Hold the lock to the end, since concurrent collections would add to each other's sums.
        let watched = STATES.lock();
        gauges.into_iter().for_each(IntGaugeVec::reset);
        for pools in watched.iter().filter_map(Weak::upgrade) {
            for state in pools.states() {
                let values = [state.size, state.open, state.in_use];
                for (gauge, value) in gauges.into_iter().zip(values) {
                    gauge.with_label_values(&[state.name]).add(i64::from(value));
                }
            }
        }
        gauges.into_iter().flat_map(Collector::collect).collect()
    }
}
