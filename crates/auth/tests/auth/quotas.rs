//! Token buckets, with a clock that the tests control.

use std::net::IpAddr;
use std::time::Duration;

use auth::{Quota, QuotaId, Quotas, Rate};
use domain::ManualClock;

fn frozen() -> (ManualClock, Quotas) {
    let clock = ManualClock::new("2026-03-01T12:00:00Z".parse().unwrap());
    let quotas = Quotas::new(clock.shared());
    (clock, quotas)
}

fn address(text: &str) -> QuotaId {
    QuotaId::Address(text.parse::<IpAddr>().unwrap())
}

#[test]
fn exactly_the_burst_passes_and_retry_after_is_exact() {
    for per_minute in [1_u32, 7, 10, 50, 100, 500, 1_000, 12_000] {
        let (clock, quotas) = frozen();
        let take = || quotas.check(QuotaId::Key(1), Quota::per_minute(per_minute), 1);
        for n in 1..=per_minute {
            let left = take().unwrap();
            assert_eq!((left.limit, left.remaining), (per_minute, per_minute - n));
        }
        let refused = take().unwrap_err();
        assert_eq!(refused.retry_after, u64::from(60_u32.div_ceil(per_minute)));
        assert_eq!(refused.limit, per_minute);
        assert!((60..=61).contains(&refused.reset), "{}", refused.reset);
        clock.advance(i64::try_from(refused.retry_after).unwrap());
        assert!(take().is_ok(), "{per_minute} per minute");
    }
}

#[test]
fn bucket_refills_at_its_rate_up_to_its_burst() {
    let (clock, quotas) = frozen();
    let quota = Quota { per_minute: 60, burst: 10 };
    let take = || quotas.check(QuotaId::Key(1), quota, 1);
    let passing = || (0..100).take_while(|_| take().is_ok()).count();
    assert_eq!(passing(), 10);
    clock.advance(3);
    assert_eq!(passing(), 3);
    clock.advance(3_600);
    assert_eq!(passing(), 10);
}

#[test]
fn cost_is_taken_in_full_or_not_at_all() {
    let (clock, quotas) = frozen();
    let quota = Quota { per_minute: 60, burst: 10 };
    assert_eq!(quotas.check(QuotaId::Key(1), quota, 7).unwrap().remaining, 3);
    let refused = quotas.check(QuotaId::Key(1), quota, 5).unwrap_err();
    assert_eq!(refused.retry_after, 2);
    assert_eq!(quotas.check(QuotaId::Key(1), quota, 3).unwrap().remaining, 0);
    clock.advance(60);
    assert_eq!(quotas.check(QuotaId::Key(1), quota, 99).unwrap().remaining, 0, "the whole burst");
}

#[test]
fn holders_and_purposes_have_separate_buckets() {
    let (_, quotas) = frozen();
    let quota = Quota::per_minute(1);
    let ids = [
        QuotaId::Key(1),
        QuotaId::Key(2),
        QuotaId::Key(1).purpose("write"),
        QuotaId::Key(1).part("example.org"),
        address("192.0.2.1"),
        address("192.0.2.2"),
    ];
    for id in &ids {
        assert!(quotas.check(id.clone(), quota, 1).is_ok(), "{id:?}");
        assert!(quotas.check(id.clone(), quota, 1).is_err(), "{id:?}");
    }
}

#[test]
fn ipv6_counts_by_its_network_and_mapped_ipv4_as_itself() {
    let (_, quotas) = frozen();
    let quota = Quota::per_minute(1);
    assert!(quotas.check(address("2001:db8:1:2:3::4"), quota, 1).is_ok());
    assert!(quotas.check(address("2001:db8:1:2::ffff"), quota, 1).is_err());
    assert!(quotas.check(address("2001:db8:1:3::1"), quota, 1).is_ok());
    assert!(quotas.check(address("192.0.2.1"), quota, 1).is_ok());
    assert!(quotas.check(address("::ffff:192.0.2.1"), quota, 1).is_err());
    let write = |text: &str| quotas.check(address(text).purpose("write"), quota, 1);
    assert!(write("2001:db8:1:2::1").is_ok());
    assert!(write("2001:db8:1:2::2").is_err());
}

#[test]
fn rates_need_not_be_per_minute() {
    let (clock, quotas) = frozen();
    let rate = Rate::per(10, Duration::from_secs(600));
    for _ in 0..10 {
        quotas.check(QuotaId::Key(1), rate, 1).unwrap();
    }
    assert_eq!(quotas.check(QuotaId::Key(1), rate, 1).unwrap_err().retry_after, 60);
    let shared = Quota::per_minute(10).shared_by(3);
    for _ in 0..10 {
        quotas.check(QuotaId::Key(1), shared, 1).unwrap();
    }
    assert_eq!(quotas.check(QuotaId::Key(1), shared, 1).unwrap_err().retry_after, 18);
    clock.advance(18);
    assert!(quotas.check(QuotaId::Key(1), shared, 1).is_ok());
}

#[test]
fn unlimited_rate_never_refuses_and_uses_no_memory() {
    let (_, quotas) = frozen();
    for _ in 0..1_000 {
        quotas.check(address("192.0.2.1"), Quota::per_minute(0), 1).unwrap();
    }
    assert!(quotas.is_empty());
}

#[test]
fn full_buckets_are_dropped_after_a_while() {
    let (clock, quotas) = frozen();
    let quota = Quota::per_minute(60);
    for n in 0..500 {
        quotas.check(QuotaId::Key(n), quota, 1).unwrap();
    }
    quotas.check(QuotaId::Key(7), quota, 59).unwrap();
    assert_eq!(quotas.len(), 500);
    clock.advance(20);
    quotas.tidy();
    assert_eq!(quotas.len(), 1, "only the bucket that is not full yet");
    clock.advance(120);
    quotas.check(QuotaId::Key(501), quota, 1).unwrap();
    assert_eq!(quotas.len(), 1, "removed by the check itself");
}

#[test]
fn slowest_rate_is_counted() {
    let (_, quotas) = frozen();
    for rate in [
        Quota { per_minute: 1, burst: auth::Plan::MOST }.shared_by(u32::MAX),
        Rate { every: Duration::MAX, burst: u32::MAX },
    ] {
        assert!(quotas.check(QuotaId::Key(1), rate, 1).is_ok(), "{rate:?}");
    }
}

#[test]
fn an_owner_has_one_bucket_for_all_keys() {
    let (_, quotas) = frozen();
    let quota = Quota::per_minute(1);
    assert!(quotas.check(QuotaId::Owner(1), quota, 1).is_ok());
    assert!(quotas.check(QuotaId::Owner(1), quota, 1).is_err());
    assert!(
        quotas.check(QuotaId::Key(1), quota, 1).is_ok(),
        "a key with the same id has its own bucket"
    );
}
