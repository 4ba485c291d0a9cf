//! A local server with a public bucket and the list APIs of three providers.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use parking_lot::Mutex;

/// Number of files per page.
pub const PAGE: usize = 100;

/// The server's content and behaviour.
#[derive(Default)]
pub struct Behaviour {
    /// Keys in byte order. The size of a file is the index of its key.
    pub keys: Mutex<Vec<String>>,
    /// ETags of files in S3 listings.
    pub etags: Mutex<BTreeMap<String, String>>,
    /// Request targets so far.
    pub requests: Mutex<Vec<String>>,
    /// Number of requests that get a 503 response.
    pub busy: AtomicUsize,
    /// Number of responses that end before their body does.
    pub cut: AtomicUsize,
    /// From this request on (counted from 1), all get a 503 response; 0 for none.
    pub broken_from: AtomicUsize,
    /// Number of requests after which the server refuses connections; 0 for none.
    pub gone_after: AtomicUsize,
    /// The target of redirects.
    pub location: Mutex<Option<String>>,
    /// Whether all requests get a 403 response.
    pub closed: AtomicBool,
    /// Whether only version 1 of the S3 API is supported.
    pub old: bool,
}

/// The server, stopped on drop.
pub struct PublicBucket {
    pub behaviour: Arc<Behaviour>,
    pub address: String,
}

impl PublicBucket {
    /// Starts a server.
    pub fn start(behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let behaviour = Arc::new(behaviour);
        listen(listener, Arc::clone(&behaviour));
        Self { behaviour, address }
    }

    /// Accepts connections again.
    pub fn restart(&self) {
        self.behaviour.gone_after.store(0, Ordering::Relaxed);
        let address = self.address.trim_start_matches("http://");
        listen(TcpListener::bind(address).unwrap(), Arc::clone(&self.behaviour));
    }

    /// Returns the number of requests so far.
    pub fn requests(&self) -> usize {
        self.behaviour.requests.lock().len()
    }
}

impl Drop for PublicBucket {
    fn drop(&mut self) {
        let address = self.address.trim_start_matches("http://").to_owned();
        self.behaviour = Arc::default();
        // Wakes up the server.
        drop(TcpStream::connect(address));
    }
}

fn listen(listener: TcpListener, served: Arc<Behaviour>) {
    // The thread ends with the process, or with the first connection after the drop.
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            if Arc::strong_count(&served) == 1 {
                return;
            }
            let last = served.gone_after.load(Ordering::Relaxed);
            if last > 0 && served.requests.lock().len() + 1 >= last {
                drop(listener);
                return serve(&served, stream);
            }
            serve(&served, stream);
        }
    });
}

fn serve(behaviour: &Behaviour, stream: TcpStream) {
    let mut reader = BufReader::new(stream);
    let mut target = String::new();
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|count| count > 2) {
        if target.is_empty() {
            target = line.split(' ').nth(1).unwrap_or_default().to_owned();
        }
        line.clear();
    }
    let (status, body) = answer(behaviour, &target);
    let location = behaviour.location.lock();
    let location = location.as_ref().map_or(String::new(), |url| format!("location: {url}\r\n"));
    let head = format!("HTTP/1.1 {status}\r\n{location}connection: close\r\n");
    let length = body.len();
    let fewer = |cut: usize| cut.checked_sub(1);
    let answer = match behaviour.cut.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fewer) {
        Err(_) => format!("{head}content-length: {length}\r\n\r\n{body}"),
        Ok(cut) if cut % 2 == 0 => format!("{head}content-length: {}\r\n\r\n{body}", length + 1),
        // The last chunk is missing.
        Ok(_) => format!("{head}transfer-encoding: chunked\r\n\r\n{length:x}\r\n{body}\r\n"),
    };
    // The client may have disconnected.
    let _ = reader.get_mut().write_all(answer.as_bytes());
}

fn answer(behaviour: &Behaviour, target: &str) -> (&'static str, String) {
    let count = {
        let mut requests = behaviour.requests.lock();
        requests.push(target.to_owned());
        requests.len()
    };
    let broken_from = behaviour.broken_from.load(Ordering::Relaxed);
    let fewer = |busy: usize| busy.checked_sub(1);
    let busy = behaviour.busy.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fewer).is_ok();
    if busy || (broken_from > 0 && count >= broken_from) {
        return ("503 Service Unavailable", "<Error><Code>SlowDown</Code></Error>".to_owned());
    }
    if behaviour.closed.load(Ordering::Relaxed) {
        return ("403 Forbidden", "<Error><Code>AccessDenied</Code></Error>".to_owned());
    }
    let url = reqwest::Url::parse(&format!("http://x{target}")).unwrap();
    let parameter = |name: &str| {
        url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
    };
    match url.path().split('/').nth(1) {
        Some("s3") => ("200 OK", s3(behaviour, &parameter)),
        Some("azure") => ("200 OK", azure(behaviour, &parameter)),
        Some("gcs") => ("200 OK", gcs(behaviour, &parameter)),
        Some("empty") => ("200 OK", String::new()),
        Some("no-end") => ("200 OK", "<ListBucketResult></ListBucketResult>".to_owned()),
        Some("nul") => ("200 OK", "<Bad\0Root><a/></Bad\0Root>".to_owned()),
        Some("no-kind") => ("200 OK", "{}".to_owned()),
        Some("moved") if parameter("moved").is_some() => ("200 OK", s3(behaviour, &parameter)),
        Some("moved") => ("302 Found", String::new()),
        Some("lost") => ("200 OK", endless("")),
        Some("circle") => {
            let there = parameter("continuation-token").is_some_and(|token| token == "there");
            ("200 OK", endless(if there { "back" } else { "there" }))
        }
        Some("counting") => ("200 OK", endless(&count.to_string())),
        Some("closed") => ("403 Forbidden", "<Error><Code>AccessDenied</Code></Error>".to_owned()),
        _ => ("404 Not Found", String::new()),
    }
}

/// Returns a page with a token for the next one.
fn endless(token: &str) -> String {
    format!(
        "<ListBucketResult><IsTruncated>true</IsTruncated>\
         <NextContinuationToken>{token}</NextContinuationToken></ListBucketResult>"
    )
}

/// Returns a page's keys and file sizes, and whether more follow.
fn page(behaviour: &Behaviour, first: usize) -> (Vec<(String, usize)>, bool) {
    let keys = behaviour.keys.lock();
    let page = keys.iter().cloned().zip(0..).skip(first).take(PAGE).collect();
    (page, first + PAGE < keys.len())
}

/// Returns the number of leading keys that meet a condition.
fn first(behaviour: &Behaviour, matches: impl Fn(&String) -> bool) -> usize {
    behaviour.keys.lock().partition_point(matches)
}

fn encoded(key: &str) -> String {
    key.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

fn s3(behaviour: &Behaviour, parameter: &dyn Fn(&str) -> Option<String>) -> String {
    assert_eq!(parameter("encoding-type").as_deref(), Some("url"));
    let after = parameter("marker").or(parameter("start-after"));
    let after = after.map(|after| first(behaviour, |key| *key <= after));
    let token = parameter("continuation-token").map(|token| token[2..].parse().unwrap());
    let first = after.or(token).unwrap_or(0);
    let (keys, more) = page(behaviour, first);
    let prefix = parameter("prefix").unwrap_or_default();
    let etags = behaviour.etags.lock();
    let contents: String = keys
        .iter()
        .filter(|(key, _)| key.starts_with(&prefix))
        .map(|(key, size)| {
            let etag = etags.get(key).map_or(String::new(), |etag| {
                format!("<ETag>&quot;{etag}&quot;</ETag>")
            });
            format!(
                "<Contents><Key>{}</Key><LastModified>2022-10-25T02:57:46.000Z</LastModified>{etag}<Size>{size}</Size></Contents>",
                encoded(key)
            )
        })
        .collect();
    let next = match more && !behaviour.old {
        true => format!("<NextContinuationToken>t={}</NextContinuationToken>", first + PAGE),
        false => String::new(),
    };
    format!(
        "<?xml version=\"1.0\"?><ListBucketResult>{contents}<EncodingType>url</EncodingType><IsTruncated>{more}</IsTruncated>{next}</ListBucketResult>"
    )
}

fn azure(behaviour: &Behaviour, parameter: &dyn Fn(&str) -> Option<String>) -> String {
    assert_eq!(parameter("comp").as_deref(), Some("list"));
    let first = parameter("marker").map_or(0, |marker| marker.parse().unwrap());
    let (keys, more) = page(behaviour, first);
    let blobs: String = keys
        .iter()
        .map(|(key, size)| {
            format!(
                "<Blob><Name Encoded=\"true\">{}</Name><Properties><Last-Modified>Tue, 25 Oct 2022 02:57:46 GMT</Last-Modified><Content-Length>{size}</Content-Length></Properties></Blob>",
                encoded(key)
            )
        })
        .collect();
    let next = if more { (first + PAGE).to_string() } else { String::new() };
    format!(
        "<?xml version=\"1.0\"?><EnumerationResults ServiceEndpoint=\"http://127.0.0.1/\" ContainerName=\"azure\"><Blobs>{blobs}</Blobs><NextMarker>{next}</NextMarker></EnumerationResults>"
    )
}

fn gcs(behaviour: &Behaviour, parameter: &dyn Fn(&str) -> Option<String>) -> String {
    let from = parameter("startOffset").map(|from| first(behaviour, |key| *key < from));
    let token = parameter("pageToken").map(|token| token.parse().unwrap());
    let first = from.or(token).unwrap_or(0);
    let (keys, more) = page(behaviour, first);
    let items: Vec<_> = keys
        .iter()
        .map(|(key, size)| {
            serde_json::json!({ "name": key, "bucket": "whose", "size": size.to_string(), "updated": "2022-10-25T02:57:46.000Z" })
        })
        .collect();
    let mut page = serde_json::json!({ "kind": "storage#objects" });
    if !items.is_empty() {
        page["items"] = items.into();
    }
    if more {
        page["nextPageToken"] = (first + PAGE).to_string().into();
    }
    page.to_string()
}
