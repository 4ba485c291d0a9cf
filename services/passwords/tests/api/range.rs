//! Bodies, padding, compression and caching.

use std::collections::HashSet;
use std::io::Read;

use passwords::model::Kind;
use reqwest::Response;

use crate::app::{App, Data, Numbers, expected_range};

const SIZES: [(u32, usize); 11] = [
    (0x00000, 3),
    (0x21BD1, 1),
    (0x21BD2, 799),
    (0x21BD3, 800),
    (0x21BD4, 801),
    (0x5BAA6, 900),
    (0xABCDE, 1000),
    (0xABCDF, 1001),
    (0xDEAD0, 1399),
    (0xFFFFE, 20),
    (0xFFFFF, 830),
];
const EMPTY: u32 = 0x12345;

fn unpacked(packed: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(packed).read_to_end(&mut text).unwrap();
    text
}

fn header<'a>(answer: &'a Response, name: &str) -> Option<&'a str> {
    answer.headers().get(name).map(|value| value.to_str().unwrap())
}

#[actix_web::test]
async fn bodies_equal_the_source_byte_for_byte() {
    let data = Data::new();
    let mut numbers = Numbers::new(1);
    let all = Kind::ALL.map(|kind| (kind, numbers.entries(kind, &SIZES)));
    for (kind, entries) in &all {
        data.activate(*kind, entries);
    }
    for limit in [0, 1024] {
        let server = App::start_with(&data, |s, _| s.in_memory_limit_mb = limit).await;
        for (kind, entries) in &all {
            let query = if *kind == Kind::Ntlm { "?mode=ntlm" } else { "" };
            for (prefix, n) in SIZES.iter().chain(&[(EMPTY, 0)]) {
                let expected = expected_range(*kind, entries, *prefix);
                assert_eq!(expected.lines().count(), *n);
                for path in [format!("/range/{prefix:05X}"), format!("/range/{prefix:05x}")] {
                    let answer = server.get(&format!("{path}{query}")).send().await.unwrap();
                    assert_eq!(answer.status(), 200);
                    assert_eq!(header(&answer, "content-type"), Some("text/plain; charset=utf-8"));
                    let length = expected.len().to_string();
                    assert_eq!(header(&answer, "content-length"), Some(length.as_str()));
                    assert_eq!(header(&answer, "content-encoding"), None);
                    assert_eq!(header(&answer, "accept-ranges"), None);
                    assert_eq!(answer.text().await.unwrap(), expected);
                }
            }
        }
    }
}

#[actix_web::test]
async fn head_has_the_headers_of_get_and_no_body() {
    let data = Data::new();
    let entries = Numbers::new(2).entries(Kind::Sha1, &SIZES);
    data.activate(Kind::Sha1, &entries);
    let server = App::start(&data).await;
    for extra in ["", "accept-encoding: gzip\r\n"] {
        let ask = |method: &str| {
            format!("{method} /range/5BAA6 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{extra}\r\n")
        };
        let (head, get) = (server.raw(&ask("HEAD")).await, server.raw(&ask("GET")).await);
        let names = ["content-length", "content-type", "etag", "cache-control", "content-encoding"];
        for name in names {
            assert_eq!(head.header(name), get.header(name), "{name}");
        }
        assert!(head.body.is_empty());
        assert_eq!(get.header("content-length"), Some(get.body.len().to_string().as_str()));
    }
}

#[actix_web::test]
async fn gzip_matches_the_plain_text_and_small_responses_stay_plain() {
    let data = Data::new();
    let mut numbers = Numbers::new(3);
    let mut sizes = SIZES.to_vec();
    sizes.push((0x77777, 65_535));
    for kind in Kind::ALL {
        data.activate(kind, &numbers.entries(kind, &sizes));
    }
    let server = App::start(&data).await;
    sizes.push((EMPTY, 0));
    for query in ["", "?mode=ntlm"] {
        for (prefix, n) in &sizes {
            let path = format!("/range/{prefix:05X}{query}");
            let plain = server.text(&path).await;
            // The second response uses the trailer that the first one cached.
            for padded in ["", "false", "true", "true"] {
                let request = server.get(&path).header("accept-encoding", "br, gzip");
                let packed = request.header("add-padding", padded).send().await.unwrap();
                let coding = header(&packed, "content-encoding").map(str::to_owned);
                let bytes = packed.bytes().await.unwrap();
                let text = if coding.is_some() { unpacked(&bytes) } else { bytes.to_vec() };
                assert_eq!(coding.as_deref(), (text.len() >= 512).then_some("gzip"), "{n}");
                if padded == "true" {
                    let filler = text.strip_prefix(plain.as_bytes()).unwrap();
                    let filler = String::from_utf8_lossy(filler);
                    assert!(filler.lines().all(|line| line.is_empty() || line.ends_with(":0")));
                } else {
                    assert!(text == plain.as_bytes(), "{path}");
                }
            }
        }
    }
    for refusal in ["gzip;q=0", "br", "*", "identity"] {
        let answer = server.get("/range/5BAA6").header("accept-encoding", refusal);
        assert_eq!(header(&answer.send().await.unwrap(), "content-encoding"), None);
    }
}

#[actix_web::test]
async fn gzip_can_be_switched_off() {
    let data = Data::new();
    data.activate(Kind::Sha1, &Numbers::new(3).entries(Kind::Sha1, &SIZES));
    let server = App::start_with(&data, |s, _| s.gzip = shell::Switch::Off).await;
    let answer = server.get("/range/5BAA6").header("accept-encoding", "gzip").send().await.unwrap();
    assert_eq!(header(&answer, "content-encoding"), None);
    assert!(header(&answer, "etag").unwrap().starts_with('"'));
}

/// Counts the lines of padded responses: 10,000 requests over all sizes.
#[actix_web::test]
async fn padded_answers_hide_the_number_of_lines() {
    const BOUNDS: [(u32, usize, usize, usize); 8] = [
        (EMPTY, 0, 800, 1000),
        (0x21BD1, 1, 800, 1000),
        (0x21BD2, 799, 800, 1000),
        (0x21BD3, 800, 800, 1000),
        (0x21BD4, 801, 801, 1000),
        (0xABCDE, 1000, 1000, 1000),
        (0xABCDF, 1001, 1200, 1400),
        (0xDEAD0, 1399, 1400, 1600),
    ];
    let data = Data::new();
    let mut numbers = Numbers::new(5);
    for kind in Kind::ALL {
        data.activate(kind, &numbers.entries(kind, &SIZES));
    }
    let server = App::start(&data).await;
    for (query, width) in [("", 35), ("?mode=ntlm", 27)] {
        for (prefix, n, low, high) in BOUNDS {
            let path = format!("/range/{prefix:05X}{query}");
            let plain = server.text(&path).await;
            let (mut totals, mut bodies) = (HashSet::new(), HashSet::new());
            for round in 0..625 {
                let coding = if round % 8 == 0 { "gzip" } else { "identity" };
                let request = server.get(&path).header("add-padding", "TRUE");
                let answer = request.header("accept-encoding", coding).send().await.unwrap();
                assert_eq!(answer.status(), 200, "{path}, round {round}");
                let bytes = answer.bytes().await.unwrap();
                let bytes = if round % 8 == 0 { unpacked(&bytes) } else { bytes.to_vec() };
                let body = String::from_utf8(bytes).unwrap();
                let rest = body.strip_prefix(&plain).unwrap();
                let lines: Vec<&str> = body.split("\r\n").collect();
                assert!((low..=high).contains(&lines.len()), "{n}: {}", lines.len());
                assert!(rest.is_empty() || n == 0 || rest.starts_with("\r\n"));
                for line in &lines[n..] {
                    let (suffix, count) = line.split_once(':').unwrap();
                    assert_eq!((suffix.len(), count), (width, "0"));
                    assert!(suffix.bytes().all(|b| matches!(b, b'0'..=b'9' | b'A'..=b'F')));
                }
                totals.insert(lines.len());
                assert!(
                    bodies.insert(body.clone()) || lines.len() == n,
                    "{n}: a response was repeated"
                );
            }
            let possible = high - low + 1;
            // Each of 201 values is missed by 625 draws with a probability of 5 %.
            assert!(totals.len() * 100 >= possible * 88, "{n}: {} of {possible}", totals.len());
            if possible > 1 {
                assert!(totals.iter().min() < Some(&(low + possible / 8)));
                assert!(totals.iter().max() > Some(&(high - possible / 8)));
            }
        }
    }
}

#[actix_web::test]
async fn cache_headers_follow_the_padding_header() {
    let data = Data::new();
    data.activate(Kind::Sha1, &Numbers::new(6).entries(Kind::Sha1, &SIZES));
    let server = App::start_with(&data, |s, _| s.max_age = 60).await;
    let ask = |padding: Option<&'static str>| {
        let request = server.get("/range/5BAA6");
        match padding {
            Some(value) => request.header("add-padding", value),
            None => request,
        }
    };
    let answer = ask(None).send().await.unwrap();
    assert_eq!(header(&answer, "cache-control"), Some("public, max-age=60"));
    assert!(header(&answer, "etag").is_some() && header(&answer, "last-modified").is_some());
    for padding in ["false", "", "1"] {
        let answer = ask(Some(padding)).send().await.unwrap();
        assert_eq!(header(&answer, "cache-control"), Some("no-store"));
        assert!(header(&answer, "etag").is_some() && header(&answer, "last-modified").is_some());
    }
    for padding in ["true", "True"] {
        let answer = ask(Some(padding)).send().await.unwrap();
        assert_eq!(header(&answer, "cache-control"), Some("no-store"));
        assert!(header(&answer, "etag").is_none() && header(&answer, "last-modified").is_none());
    }
    assert_eq!(passwords::Settings::default().max_age, 31 * 24 * 60 * 60);
}

#[actix_web::test]
async fn a_known_tag_is_304_in_every_form() {
    let data = Data::new();
    data.activate(Kind::Sha1, &Numbers::new(7).entries(Kind::Sha1, &SIZES));
    let server = App::start(&data).await;
    let plain = server.get("/range/5BAA6").send().await.unwrap();
    let tag = header(&plain, "etag").unwrap().to_owned();
    let modified = header(&plain, "last-modified").unwrap().to_owned();
    assert_eq!(tag.len(), 18);
    let packed = server.get("/range/5BAA6").header("accept-encoding", "gzip").send().await.unwrap();
    assert_eq!(header(&packed, "etag"), Some(format!("W/{tag}").as_str()));
    let conditional = |name: &'static str, value: String| {
        let request = server.get("/range/5BAA6").header(name, value);
        async { request.send().await.unwrap() }
    };
    for value in [tag.clone(), format!("W/{tag}"), format!("\"a\", {tag}"), "*".to_owned()] {
        let answer = conditional("if-none-match", value).await;
        assert_eq!(answer.status(), 304);
        assert_eq!(header(&answer, "etag"), Some(tag.as_str()));
        assert_eq!(header(&answer, "cache-control"), Some("public, max-age=2678400"));
        assert_eq!(header(&answer, "vary"), Some("Add-Padding, Accept-Encoding"));
        assert_eq!(header(&answer, "last-modified"), Some(modified.as_str()));
        assert_eq!(answer.text().await.unwrap(), "");
    }
    // A cache that has stored the compressed response gets its tag back.
    let weak = format!("W/{tag}");
    let known = server.get("/range/5BAA6").header("accept-encoding", "gzip");
    let known = known.header("if-none-match", &weak).send().await.unwrap();
    assert_eq!((known.status().as_u16(), header(&known, "etag")), (304, Some(weak.as_str())));
    assert_eq!(conditional("if-none-match", "\"other\"".to_owned()).await.status(), 200);
    assert_eq!(conditional("if-modified-since", modified.clone()).await.status(), 304);
    let long_ago = "Sun, 06 Nov 1994 08:49:37 GMT".to_owned();
    assert_eq!(conditional("if-modified-since", long_ago).await.status(), 200);
    let later = "Fri, 31 Dec 9999 23:59:59 GMT".to_owned();
    assert_eq!(conditional("if-modified-since", later).await.status(), 304);
    assert_eq!(conditional("if-modified-since", "yesterday".to_owned()).await.status(), 200);
    let both = server.get("/range/5BAA6").header("if-none-match", "\"x\"");
    let both = both.header("if-modified-since", &modified).send().await.unwrap();
    assert_eq!(both.status(), 200);
    let padded = server.get("/range/5BAA6").header("if-none-match", &tag);
    let padded = padded.header("add-padding", "true").send().await.unwrap();
    assert_eq!(padded.status(), 200);
}

#[actix_web::test]
async fn merge_changes_only_the_tag_of_the_changed_bucket() {
    let data = Data::new();
    let mut numbers = Numbers::new(8);
    let entries = numbers.entries(Kind::Sha1, &SIZES);
    let base = data.activate(Kind::Sha1, &entries);
    let server = App::start(&data).await;
    let tags = |server: &App| {
        let requests: Vec<_> =
            SIZES.iter().map(|(prefix, _)| server.get(&format!("/range/{prefix:05X}"))).collect();
        async move {
            let mut tags = Vec::new();
            for request in requests {
                tags.push(header(&request.send().await.unwrap(), "etag").unwrap().to_owned());
            }
            tags
        }
    };
    let before = tags(&server).await;
    let more = numbers.entries(Kind::Sha1, &[(0x5BAA6, 1)]);
    let list = data.write("more.txt", crate::app::hash_list(Kind::Sha1, &more));
    let base = base.to_str().unwrap();
    data.path_of(&["merge", "--activate", "--base", base, list.to_str().unwrap()]);
    server.service.reload(false);
    let after = tags(&server).await;
    for (at, (prefix, _)) in SIZES.iter().enumerate() {
        assert_eq!(before[at] == after[at], *prefix != 0x5BAA6, "{prefix:05X}");
        let request = server.get(&format!("/range/{prefix:05X}"));
        let answer = request.header("if-none-match", &before[at]).send().await.unwrap();
        assert_eq!(answer.status() == 304, *prefix != 0x5BAA6, "{prefix:05X}");
    }
    let mut merged = entries.clone();
    merged.extend(more);
    merged.sort_by(passwords::model::Entry::compare);
    let expected = expected_range(Kind::Sha1, &merged, 0x5BAA6);
    assert_eq!(server.text("/range/5BAA6").await, expected);
}

#[actix_web::test]
async fn ntlm_has_its_own_root() {
    let data = Data::new();
    let entries = Numbers::new(6).entries(Kind::Ntlm, &SIZES);
    data.activate(Kind::Ntlm, &entries);
    let server = App::start(&data).await;
    let (mode, root) = ("/range/21bd2?mode=ntlm", "/ntlm/range/21bd2");
    assert_eq!(server.text(root).await, expected_range(Kind::Ntlm, &entries, 0x21BD2));
    let tag = header(&server.get(mode).send().await.unwrap(), "etag").map(str::to_owned).unwrap();
    let known = server.get(root).header("if-none-match", &tag).send().await.unwrap();
    assert_eq!(known.status(), 304);
    let padded = server.get(&format!("{root}?mode=sha1")).header("add-padding", "true");
    assert!(padded.send().await.unwrap().text().await.unwrap().lines().count() >= 800);
    for (path, status) in [("/ntlm/range/21bd", 400), ("/ntlm/21bd2", 400), ("/range/21bd2", 503)] {
        assert_eq!(server.get(path).send().await.unwrap().status(), status, "{path}");
    }
}
