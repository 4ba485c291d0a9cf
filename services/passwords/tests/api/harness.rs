//! Corpora, commands and servers for tests.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use passwords::PasswordRanges;
use passwords::config::RangeSettings;
use passwords::model::{Entry, Kind};
use shell::{Running, Server, ShellSettings};

/// A data folder that is removed at the end of the test.
pub struct Data(tempfile::TempDir);

impl Data {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Runs the binary on this data folder.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_passwords"));
        command.args(arguments).env("DATA_DIR", self.path()).env("RUST_LOG", "info");
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).stdin(Stdio::null()).output().unwrap()
    }

    /// Runs the binary with standard input.
    pub fn pipe(&self, arguments: &[&str], input: &[u8]) -> Output {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let writer = std::thread::spawn(move || {
            let _ = stdin.write_all(&input);
        });
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        output
    }

    /// Runs a command that must succeed and gives the path that it prints.
    pub fn path_of(&self, arguments: &[&str]) -> PathBuf {
        let output = self.run(arguments);
        assert!(output.status.success(), "{}", stderr(&output));
        PathBuf::from(stdout(&output).trim())
    }

    /// Builds and activates a corpus from entries.
    pub fn activate(&self, kind: Kind, entries: &[Entry]) -> PathBuf {
        let list = self.write("list.txt", hash_list(kind, entries));
        self.path_of(&["build", "--activate", "--kind", kind.name(), list.to_str().unwrap()])
    }
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

/// The whole digest as lists spell it.
pub fn digest(kind: Kind, entry: &Entry) -> String {
    hex(&entry.hash[..kind.hash_bytes()])
}

/// An ordered list of hashes.
pub fn hash_list(kind: Kind, entries: &[Entry]) -> String {
    entries.iter().map(|entry| format!("{}:{}\n", digest(kind, entry), entry.count)).collect()
}

/// What the service must answer for a prefix.
pub fn expected_range(kind: Kind, entries: &[Entry], prefix: u32) -> String {
    let of_prefix = entries.iter().filter(|entry| entry.prefix() == prefix);
    let lines: Vec<String> =
        of_prefix.map(|entry| format!("{}:{}", &digest(kind, entry)[5..], entry.count)).collect();
    lines.join("\r\n")
}

/// A generator whose numbers are the same in every run.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn entry(&mut self, kind: Kind, prefix: u32) -> Entry {
        let mut hash = [0; 20];
        for eight in hash.chunks_mut(8) {
            eight.copy_from_slice(&self.next().to_be_bytes()[..eight.len()]);
        }
        hash[0] = (prefix >> 12) as u8;
        hash[1] = (prefix >> 4) as u8;
        hash[2] = (prefix << 4) as u8 | hash[2] & 15;
        hash[kind.hash_bytes()..].fill(0);
        let count = match self.next() % 4 {
            0 => 1 + (self.next() % i32::MAX as u64) as u32,
            1 => 1 + (self.next() % 5000) as u32,
            _ => 1 + (self.next() % 9) as u32,
        };
        Entry { hash, count }
    }

    /// Ascending entries: so many for each prefix.
    pub fn entries(&mut self, kind: Kind, sizes: &[(u32, usize)]) -> Vec<Entry> {
        let mut entries = Vec::new();
        for (prefix, n) in sizes {
            entries.extend((0..*n).map(|_| self.entry(kind, *prefix)));
        }
        entries.sort_by(Entry::compare);
        entries
    }
}

/// A server on a free port in the actix system of the test.
pub struct Ranges {
    pub running: Running,
    pub service: PasswordRanges,
    client: reqwest::Client,
}

impl Ranges {
    pub async fn start(data: &Data) -> Self {
        Self::start_with(data, |_, _| ()).await
    }

    pub async fn start_with(
        data: &Data,
        change: impl FnOnce(&mut RangeSettings, &mut ShellSettings),
    ) -> Self {
        let mut settings = RangeSettings { reload_interval: 0, ..RangeSettings::default() };
        let mut web = ShellSettings::for_tests(data.path());
        change(&mut settings, &mut web);
        let service = PasswordRanges::open(&settings, data.path());
        let running = Server::start(&web, service.clone()).await.unwrap();
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_gzip()
            .no_brotli()
            .build()
            .unwrap();
        Self { running, service, client }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.running.http)
    }

    pub fn get(&self, path: &str) -> reqwest::RequestBuilder {
        self.client.get(self.url(path))
    }

    pub async fn text(&self, path: &str) -> String {
        let answer = self.get(path).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        answer.text().await.unwrap()
    }

    pub async fn admin_status(&self, path: &str) -> u16 {
        let url = format!("http://{}{path}", self.running.admin);
        self.client.get(url).send().await.unwrap().status().as_u16()
    }

    /// Sends bytes as they are and reads until the server closes.
    pub async fn raw(&self, request: &str) -> Raw {
        let (address, request) = (self.running.http, request.to_owned());
        actix_web::rt::task::spawn_blocking(move || exchange(address, &request)).await.unwrap()
    }
}

/// An answer as it came over the wire.
#[derive(Debug)]
pub struct Raw {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Raw {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

pub fn exchange(address: SocketAddr, request: &str) -> Raw {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let status = head[9..12].parse().unwrap();
    Raw { status, head, body: bytes[end + 4..].to_vec() }
}
