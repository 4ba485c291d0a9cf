//! Searches, limits, and servers that are unavailable.

use std::net::TcpListener;
use std::sync::atomic::Ordering;
use std::time::Instant;

use batch::PagePermits;
use buckets::engine::{Cluster, EngineError, FileIndex, Limits, Mode};
use buckets::model::{Expression, FileQuery, Matching};

use super::{Table, seconds, words};
use crate::expressions;

#[test]
fn constructs_unsupported_by_re2_are_rejected() {
    let Some(table) = Table::new() else { return };
    let expression = Expression::parse(r".*\bword.*", false).unwrap();
    let matching = Matching::Expression(std::sync::Arc::new(expression));
    let query = FileQuery { matching, ..FileQuery::default() };
    match table.index.search(&query, &seconds(30)) {
        Err(EngineError::Unsupported(reason)) => assert!(reason.contains(r"\b"), "{reason}"),
        other => panic!("{other:?}"),
    }
    let expression = Expression::parse("((1{90}){90}){9}", false);
    let Ok(expression) = expression else { return };
    let matching = Matching::Expression(std::sync::Arc::new(expression));
    let query = FileQuery { matching, ..FileQuery::default() };
    let refused = table.index.search(&query, &seconds(30));
    assert!(matches!(refused, Ok(_) | Err(EngineError::Unsupported(_))), "{refused:?}");
}

#[test]
fn random_expressions_match_naive_results() {
    let Some(table) = Table::new() else { return };
    let files = expressions::filled(&table.index);
    for case in expressions::hostile_cases() {
        assert!(expressions::agrees(&table.index, &files, &case), "{case:?}");
    }
    let compared = expressions::run(120, |case| expressions::agrees(&table.index, &files, case));
    assert!(compared > 30, "{compared} expressions");
}

#[test]
fn unusual_paths_are_preserved() {
    let Some(table) = Table::new() else { return };
    let odd =
        ["it's", "back\\slash", "tab\there", "new\nline", "é/ü/漢", "'; DROP TABLE x --", "a//b//"];
    let files: Vec<(u64, &str)> = (0..).zip(odd).map(|(n, path)| (n % 3 + 1, path)).collect();
    table.publish(1, Mode::Append, &files);
    assert_eq!(table.all(), odd);
    assert_eq!(table.paths(&words("漢")), ["é/ü/漢"]);
    for path in odd {
        let literal = Expression::parse(&format!("\"{path}\""), false).unwrap();
        let matching = Matching::Expression(std::sync::Arc::new(literal));
        let query = FileQuery { matching, full_path: true, ..FileQuery::default() };
        assert_eq!(table.paths(&query), [path]);
    }
}

#[test]
fn unavailable_server_fails_immediately() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let refused = Cluster::connect(&format!("http://us:secret@{closed}/"), Some("any"));
    let text = refused.err().unwrap().to_string();
    assert!(text.contains("the cluster does not respond") && !text.contains("secret"), "{text}");
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://us:secret@{}/", silent.local_addr().unwrap());
    let text = Cluster::connect(&url, Some("any")).err().unwrap().to_string();
    assert!(text.contains("no response within") && !text.contains("secret"), "{text}");
    assert!(Cluster::connect("http://us:secret@", None).is_err());
}

#[test]
fn wrong_user_and_cluster_have_different_errors() {
    let Ok(url) = std::env::var("TEST_CLICKHOUSE_URL") else { return };
    let error = |url: &str, name: Option<&str>| {
        let failed = Cluster::connect(url, name).and_then(|cluster| cluster.open(1).map(drop));
        failed.unwrap_err()
    };
    let unknown = error(&url, Some("nothing")).to_string();
    assert!(unknown.contains("are not configured for a cluster named nothing"), "{unknown}");
    assert!(matches!(error(&url, None), EngineError::Missing(_)));
    let wrong = error(&url.replace("throw-away", "secret"), None).to_string();
    let told = wrong.contains("Wrong password") || wrong.contains("Authentication failed");
    assert!(told && !wrong.contains("secret"), "{wrong}");
}

#[test]
fn search_stops_at_limit_and_on_cancellation() {
    let Some(table) = Table::new() else { return };
    table.publish(1, Mode::Replace, &[(1, "a")]);
    let over = Limits::until(Instant::now(), 1);
    let stopped = table.index.search(&FileQuery::default(), &over);
    assert!(matches!(stopped, Err(EngineError::Stopped)));
    let left = seconds(600);
    left.cancel_handle().store(true, Ordering::Relaxed);
    let stopped = table.index.search(&FileQuery::default(), &left);
    assert!(matches!(stopped, Err(EngineError::Stopped)));
}

#[test]
fn facets_reserve_memory() {
    let Some(table) = Table::new() else { return };
    table.publish(1, Mode::Replace, &[(1, "a.txt"), (2, "b.txt")]);
    let limits = seconds(30).with_pages(PagePermits::new(1_000));
    let counts = table.index.facets(&FileQuery::default(), &limits).unwrap();
    assert_eq!((counts.total(), counts.extensions["txt"]), (2, 2));
    assert!(limits.take_permit().is_some());
}

#[test]
fn generations_are_listed_and_dropped() {
    let Some(table) = Table::new() else { return };
    let (cluster, number) = (&table.throwaway.cluster, table.throwaway.generation);
    assert!(cluster.generations().unwrap().contains(&number));
    cluster.remove(number, &()).unwrap();
    assert!(!cluster.generations().unwrap().contains(&number));
    assert!(matches!(cluster.open(number), Err(EngineError::Missing(_))));
    let gone = table.index.search(&words("a"), &seconds(30));
    assert!(matches!(gone, Err(EngineError::Missing(_))), "{gone:?}");
}

#[test]
fn list_ends_once_its_rows_may_be_deleted() {
    let Some(table) = Table::new() else { return };
    table.publish(1, Mode::Replace, &[(1, "a"), (1, "b"), (1, "c")]);
    let mut list = table.index.list(&FileQuery::default(), &seconds(30)).unwrap();
    assert_eq!((list.total(), list.files()), (3, 3));
    assert_eq!(list.next(1, &seconds(30)).unwrap().unwrap()[0].path, "a");
    table.publish(2, Mode::Append, &[(2, "d")]);
    assert_eq!(list.next(1, &seconds(30)).unwrap().unwrap()[0].path, "b", "only rows were added");
    table.publish(3, Mode::Replace, &[(1, "e")]);
    assert!(matches!(list.next(1, &seconds(30)), Err(EngineError::Stopped)));
}
