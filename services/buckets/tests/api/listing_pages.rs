//! Listings whose pages are in several files, in any order, and missing pages.

use std::path::PathBuf;

use buckets::Settings;
use buckets::jobs::{CheckpointPolicy, JobError, LoadOptions, load, rebuild_from, resume, status};
use rstest::rstest;
use serde_json::{Value, json};
use testkit::{HttpPeer, PeerAnswer};

use crate::app::Fixture;
use crate::incomplete::{A, exported, lines};
use crate::program::{Program, text};

#[test]
fn pages_in_several_files_are_a_complete_listing() {
    let fixture = Fixture::new();
    fixture.load(&[fixture.folder.write("all.ndjson", lines(A, 5))]).unwrap();
    let page = |number: u32, part: &str| {
        let entry = format!("<Contents><Key>dir/{number}</Key><Size>9</Size></Contents>");
        let page = format!("<ListBucketResult>{entry}{part}</ListBucketResult>");
        fixture.folder.write(format!("{A}.xml.{number}"), page)
    };
    let pages = [
        page(1, "<IsTruncated>true</IsTruncated>"),
        page(2, "<Marker>dir/1</Marker><IsTruncated>true</IsTruncated>"),
        page(3, "<Marker>dir/2</Marker><IsTruncated>false</IsTruncated>"),
    ];
    let report = fixture.load(&pages).unwrap();
    assert_eq!((report.counts.replaced, report.counts.removed), (3, 2));
}

/// Writes pages of one file each in a format. They are linked by tokens, by markers, or only by
/// their keys.
fn linked_pages(fixture: &Fixture, format: &str) -> Vec<PathBuf> {
    let page = |number: usize| {
        let (is_first, more) = (number == 1, number < 4);
        let (this, next) = (format!("T{number}"), format!("T{}", number + 1));
        let when = |condition: bool, text: String| if condition { text } else { String::new() };
        let element = |name: &str, text: &str| format!("<{name}>{text}</{name}>");
        let entry = element("Contents", &format!("<Key>dir/{number}</Key><Size>9</Size>"));
        let truncated = element("IsTruncated", &more.to_string());
        let own = |name: &str, text: &str| when(!is_first, element(name, text));
        let xml =
            |links: String| element("ListBucketResult", &(entry.clone() + &truncated + &links));
        let json =
            |links: String| format!(r#"{{"Contents":[{{"Key":"dir/{number}","Size":9}}]{links}}}"#);
        match format {
            "tokens.xml" => xml(own("ContinuationToken", &this)
                + &when(more, element("NextContinuationToken", &next))),
            "markers.xml" => xml(own("Marker", &this) + &when(more, element("NextMarker", &next))),
            "keys.xml" => xml(own("Marker", &format!("dir/{}", number - 1))),
            "tokens.json" => json(
                when(!is_first, format!(r#","ContinuationToken":"{this}""#))
                    + &format!(r#","IsTruncated":{more}"#)
                    + &when(more, format!(r#","NextContinuationToken":"{next}""#)),
            ),
            _ => json(when(more, format!(r#","NextToken":"{next}""#))),
        }
    };
    let ending = format.rsplit('.').next().unwrap();
    (1..=4).map(|n| fixture.folder.write(format!("{A}.{ending}.{n}"), page(n))).collect()
}

#[rstest]
#[case("tokens.xml")]
#[case("markers.xml")]
#[case("keys.xml")]
#[case("tokens.json")]
fn missing_middle_page_removes_no_file(#[case] format: &str) {
    let fixture = Fixture::new();
    fixture.load(&[fixture.folder.write("all.ndjson", lines(A, 5))]).unwrap();
    let pages = linked_pages(&fixture, format);
    let [first, _, third, last] = pages.clone().try_into().unwrap();
    let missing = [first.clone(), third.clone(), last.clone()];
    let report = fixture.load(&missing).unwrap();
    assert_eq!((report.counts.replaced, report.counts.removed), (3, 0));
    let report = fixture.load(&pages).unwrap();
    assert_eq!((report.counts.replaced, report.counts.removed), (1, 1), "dir/0 is gone");
}

#[rstest]
#[case::as_sorted_by_name("tokens.json", [1, 3, 0, 2])]
#[case::last_page_first("tokens.json", [3, 2, 1, 0])]
#[case::markers("markers.xml", [2, 0, 3, 1])]
#[case::keys("keys.xml", [3, 0, 2, 1])]
fn linked_pages_are_joined_in_any_order(#[case] format: &str, #[case] order: [usize; 4]) {
    let fixture = Fixture::new();
    fixture.load(&[fixture.folder.write("all.ndjson", lines(A, 5))]).unwrap();
    let pages = linked_pages(&fixture, format);
    // The names do not reveal the order.
    let names = ["d", "a", "c", "b"].map(|name| fixture.folder.join(name));
    let renamed = pages.iter().zip(&names).map(|(page, name)| {
        std::fs::rename(page, name).unwrap();
        name.clone()
    });
    let renamed: Vec<PathBuf> = renamed.collect();
    let named = LoadOptions { bucket: Some(A.to_owned()), ..Fixture::options(&renamed) };
    let in_order = |places: &[usize]| {
        let sources = places.iter().map(|&place| named.sources[place].clone()).collect();
        LoadOptions { sources, ..named.clone() }
    };
    for missing in 0..4 {
        let places: Vec<usize> = order.into_iter().filter(|&place| place != missing).collect();
        let report = fixture.run(&in_order(&places)).unwrap();
        assert_eq!(report.counts.removed, 0, "page {missing} is missing");
    }
    let report = fixture.run(&in_order(&order)).unwrap();
    assert_eq!((report.counts.removed, report.tally.partial.len()), (1, 0), "dir/0 is gone");
    assert_eq!(report.truncated, Vec::<String>::new());
}

/// The keys of such pages don't reveal that the first page was read after another one.
#[rstest]
#[case::empty(&[], &[0, 1], 2)]
#[case::unsorted(&[0], &[1, 2], 1)]
fn first_page_does_not_continue_the_page_read_before_it(
    #[case] second: &[u32],
    #[case] first: &[u32],
    #[case] removed: u64,
) {
    let fixture = Fixture::new();
    fixture.load(&[fixture.folder.write("all.ndjson", lines(A, 5))]).unwrap();
    let page = |name: &str, links: &str, keys: &[u32]| {
        let entry = |key: &u32| format!("<Contents><Key>dir/{key}</Key><Size>9</Size></Contents>");
        let entries: String = keys.iter().map(entry).collect();
        let page = format!("<ListBucketResult>{links}{entries}</ListBucketResult>");
        fixture.folder.write(name, page)
    };
    let next = |token: &str| {
        format!(
            "<IsTruncated>true</IsTruncated><NextContinuationToken>{token}</NextContinuationToken>"
        )
    };
    let own = |token: &str| format!("<ContinuationToken>{token}</ContinuationToken>");
    let pages = [
        page("c", &(own("T1") + &next("T2")), second),
        page("b", &next("T1"), first),
        page("a", &(own("T2") + "<IsTruncated>false</IsTruncated>"), &[3]),
    ];
    let options =
        |pages: &[PathBuf]| LoadOptions { bucket: Some(A.to_owned()), ..Fixture::options(pages) };
    assert_eq!(fixture.run(&options(&pages[..2])).unwrap().counts.removed, 0, "no last page");
    let report = fixture.run(&options(&pages)).unwrap();
    assert_eq!((report.counts.removed, report.tally.partial.len()), (removed, 0));
}

#[test]
fn rebuild_accepts_a_listing_in_several_files() {
    let fixture = Fixture::new();
    fixture.load(&[fixture.folder.write("all.ndjson", lines(A, 5))]).unwrap();
    let mut pages = linked_pages(&fixture, "tokens.json");
    pages.swap(0, 2);
    let checkpoints = CheckpointPolicy::of(&Settings::for_tests());
    let rebuild = |pages: &[PathBuf]| {
        rebuild_from(&fixture.context, &Fixture::options(pages), checkpoints).map(drop)
    };
    rebuild(&pages).unwrap();
    assert_eq!(exported(&fixture).lines().count(), 4);
    let refused = rebuild(&pages[1..]).unwrap_err().to_string();
    assert!(refused.contains("incomplete listing"), "{refused}");
}

#[test]
fn pages_without_own_tokens_follow_by_key() {
    let fixture = Fixture::new();
    fixture.load(&[fixture.folder.write("all.ndjson", lines(A, 5))]).unwrap();
    let mut pages = linked_pages(&fixture, "next.json");
    pages.swap(1, 2);
    assert_eq!(fixture.load(&pages).unwrap().counts.removed, 0, "the keys do not ascend");
    pages.swap(1, 2);
    assert_eq!(fixture.load(&pages).unwrap().counts.removed, 1);
}

#[test]
fn gcs_pages_out_of_order_remove_no_files() {
    let program = Program::new();
    let all = program.folder().write("all.ndjson", lines(A, 5));
    program.done(&["load", text(&all)]);
    let pages = [1, 2, 3, 4].map(|number| {
        let next = if number < 4 { r#""nextPageToken":"t","# } else { "" };
        let items = format!(r#""items":[{{"name":"dir/{number}","size":"9"}}]"#);
        let page = format!(r#"{{"kind":"storage#objects",{next}{items}}}"#);
        program.folder().write(format!("page-{number}.json"), page)
    });
    let load = |order: [usize; 4]| {
        let pages = order.map(|place| text(&pages[place]));
        let ran = program.run(&[&["load", "--json", "--bucket", A][..], &pages].concat());
        let report: Value = serde_json::from_str(&ran.out).unwrap();
        let is_explained = ran.errors.contains("are not in the order of the listing");
        (report["removed"].as_u64(), report["truncated"].clone(), is_explained)
    };
    for order in [[1, 0, 2, 3], [0, 2, 1, 3], [0, 1, 3, 2], [3, 2, 1, 0], [2, 3, 0, 1]] {
        assert_eq!(load(order), (Some(0), json!([A]), true), "{order:?}");
    }
    assert_eq!(load([0, 1, 2, 3]), (Some(1), json!([]), false), "dir/0 is gone");
}

#[test]
fn resumed_run_knows_the_token_of_the_page_before() {
    for missing in [None, Some(1)] {
        let fixture = Fixture::new();
        fixture.load(&[fixture.folder.write("all.ndjson", lines(A, 5))]).unwrap();
        let mut pages = linked_pages(&fixture, "tokens.xml");
        missing.map(|at| pages.remove(at));
        // The run stops at its second source, which cannot be opened.
        let mut options = serde_json::to_value(Fixture::options(&pages)).unwrap();
        options["sources"][1]["size"] = 0.into();
        options["sources"][1]["modified"] = 0.into();
        let options: LoadOptions = serde_json::from_value(options).unwrap();
        let away = fixture.folder.join("away");
        std::fs::rename(&pages[1], &away).unwrap();
        let often = CheckpointPolicy { files: 1, every: std::time::Duration::from_secs(60) };
        let stopped = load(&fixture.context, &options, often);
        assert!(matches!(stopped, Err(JobError::Source { .. })), "{stopped:?}");
        std::fs::rename(&away, &pages[1]).unwrap();
        let run = status(&fixture.context).unwrap()["open_run"].as_u64().unwrap();
        let report = resume(&fixture.context, run, often).unwrap();
        assert_eq!(report.counts.removed, u64::from(missing.is_none()), "{missing:?}");
    }
}

#[rstest]
#[case::no_keys("<MaxKeys>0</MaxKeys>")]
#[case::token("<NextContinuationToken>t</NextContinuationToken>")]
#[case::marker("<NextMarker>dir/1</NextMarker>")]
#[case::both("<IsTruncated>true</IsTruncated>")]
#[case::count("<KeyCount>2</KeyCount>")]
#[case::no_keys_json(r#","MaxKeys":0"#)]
#[case::token_json(r#","NextContinuationToken":"t""#)]
#[case::marker_json(r#","IsTruncated":false,"NextMarker":"dir/1""#)]
#[case::version_marker_json(r#","NextKeyMarker":"dir/1""#)]
#[case::count_json(r#","KeyCount":2"#)]
fn page_that_names_a_next_one_or_lacks_keys_removes_no_file(#[case] part: &str) {
    let fixture = Fixture::new();
    fixture.load(&[fixture.folder.write("all.ndjson", lines(A, 5))]).unwrap();
    let load = |part: &str| {
        let (ending, page) = if part.starts_with('<') {
            let entry = "<Contents><Key>dir/1</Key><Size>9</Size></Contents>";
            let end = "<IsTruncated>false</IsTruncated>";
            ("xml", format!("<ListBucketResult>{part}{entry}{end}</ListBucketResult>"))
        } else {
            ("json", format!(r#"{{"Contents":[{{"Key":"dir/1","Size":9}}]{part}}}"#))
        };
        fixture.load(&[fixture.folder.write(format!("{A}.{ending}"), page)]).unwrap()
    };
    let report = load(part);
    assert_eq!((report.counts.replaced, report.counts.removed), (1, 0), "{report}");
    assert_eq!(report.tally.partial.len() + report.truncated.len(), 1, "{report}");
    let complete = match part.starts_with('<') {
        true => "<KeyCount>1</KeyCount><MaxKeys>1000</MaxKeys><NextMarker/>",
        false => r#","KeyCount":1,"MaxKeys":1000,"NextMarker":null"#,
    };
    assert_eq!(load(complete).counts.removed, 4);
}

/// Options for a bucket whose address doesn't say which name it has.
fn of_custom_domain(sources: &[PathBuf]) -> LoadOptions {
    LoadOptions {
        bucket: Some("files.example.org".to_owned()),
        kind: Some("aws".to_owned()),
        ..Fixture::options(sources)
    }
}

#[rstest]
#[case::same("one", 3)]
#[case::other("two", 0)]
fn pages_of_buckets_with_other_names_are_not_joined(#[case] name: &str, #[case] removed: u64) {
    for order in [[0, 1], [1, 0]] {
        let fixture = Fixture::new();
        let all = fixture.folder.write("all.ndjson", lines(A, 5));
        fixture.run(&of_custom_domain(&[all])).unwrap();
        let page = |file: &str, name: &str, key: &str, links: &str| {
            let entry = format!("<Contents><Key>{key}</Key><Size>9</Size></Contents>");
            let page = format!("<Name>{name}</Name>{links}{entry}");
            fixture.folder.write(file, format!("<ListBucketResult>{page}</ListBucketResult>"))
        };
        let first = "<IsTruncated>true</IsTruncated>\
                     <NextContinuationToken>t</NextContinuationToken>";
        let second = "<ContinuationToken>t</ContinuationToken><IsTruncated>false</IsTruncated>";
        let pages = [page("a", "one", "dir/0", first), page("b", name, "dir/1", second)];
        let report = fixture.run(&of_custom_domain(&order.map(|at| pages[at].clone()))).unwrap();
        assert_eq!(report.counts.removed, removed, "{order:?}: {report}");
    }
}

#[test]
fn listing_that_names_another_bucket_is_refused() {
    let fixture = Fixture::new();
    fixture.load(&[fixture.folder.write("all.ndjson", lines(A, 5))]).unwrap();
    let before = exported(&fixture);
    let xml = "<ListBucketResult><Name>b</Name><Contents><Key>x</Key><Size>1</Size></Contents>\
               <IsTruncated>false</IsTruncated></ListBucketResult>";
    let json = r#"{"Name":"b","Contents":[{"Key":"x","Size":1}]}"#;
    for (ending, text) in [("xml", xml), ("json", json)] {
        let path = fixture.folder.write(format!("{A}.{ending}"), text);
        let refused = fixture.load(&[path]).unwrap_err().to_string();
        assert!(refused.ends_with("the listing is of another bucket: b"), "{refused}");
        assert_eq!(exported(&fixture), before);
    }
}

#[test]
fn server_that_changes_the_bucket_between_pages_removes_no_file() {
    let server = HttpPeer::start(|request| {
        let (name, end) = match request.target.contains("continuation-token") {
            true => ("two", "<IsTruncated>false</IsTruncated>"),
            false => (
                "one",
                "<IsTruncated>true</IsTruncated>\
                 <NextContinuationToken>t</NextContinuationToken>",
            ),
        };
        let entry = format!("<Contents><Key>{name}</Key><Size>1</Size></Contents>");
        let page = format!("<ListBucketResult><Name>{name}</Name>{entry}{end}</ListBucketResult>");
        PeerAnswer::Body(200, page)
    });
    let fixture = Fixture::new();
    let all = fixture.folder.write("all.ndjson", lines(A, 5));
    fixture.run(&of_custom_domain(&[all])).unwrap();
    let options = of_custom_domain(&[PathBuf::from(server.url("/"))]);
    let report = fixture.run(&LoadOptions { format: Some("s3".to_owned()), ..options }).unwrap();
    assert_eq!((report.counts.added, report.counts.removed), (1, 0), "{report}");
    let [incomplete] = &report.tally.incomplete[..] else { panic!("{report}") };
    assert!(incomplete.ends_with("a page lists the bucket two instead of one"), "{incomplete}");
}
