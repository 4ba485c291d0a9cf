//! Test harness: corpora, commands and servers.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use passwords::model::{Entry, Kind};
use passwords::{Passwords, Settings};
use shell::ShellSettings;
use testkit::{Program, Ran, Random, RawAnswer, TestServer};

/// A data folder and the binary. The folder is removed at the end of the test.
pub struct Data(Program);

impl Data {
    pub fn new() -> Self {
        let program = Program::new(env!("CARGO_BIN_EXE_passwords"));
        // Commands warn about a folder that other users can read if it also contains the input
        // lists of a test.
        fs::set_permissions(program.folder().path(), Permissions::from_mode(0o700)).unwrap();
        Self(program)
    }

    pub fn path(&self) -> &Path {
        self.0.folder().path()
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        self.0.folder().write(name, content)
    }

    pub fn program(&self) -> &Program {
        &self.0
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        self.0.command(arguments)
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        self.0.run(arguments)
    }

    /// Runs a command that must succeed and returns its output.
    pub fn done(&self, arguments: &[&str]) -> String {
        self.0.done(arguments)
    }

    /// Runs the binary with `input` on stdin.
    pub fn pipe(&self, arguments: &[&str], input: &[u8]) -> Ran {
        self.0.pipe(arguments, input)
    }

    /// Runs a command that must succeed and returns the path that it prints.
    pub fn path_of(&self, arguments: &[&str]) -> PathBuf {
        PathBuf::from(self.0.done(arguments).trim())
    }

    /// Builds and activates a corpus from entries.
    pub fn activate(&self, kind: Kind, entries: &[Entry]) -> PathBuf {
        let list = self.write("list.txt", hash_list(kind, entries));
        self.path_of(&["build", "--activate", "--kind", kind.name(), list.to_str().unwrap()])
    }
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

/// Returns a digest the way it is written in lists.
pub fn digest(kind: Kind, entry: &Entry) -> String {
    hex(&entry.hash[..kind.hash_bytes()])
}

/// Returns the entries as an ordered hash list.
pub fn hash_list(kind: Kind, entries: &[Entry]) -> String {
    entries.iter().map(|entry| format!("{}:{}\n", digest(kind, entry), entry.count)).collect()
}

/// Returns the expected response for a prefix.
pub fn expected_range(kind: Kind, entries: &[Entry], prefix: u32) -> String {
    let of_prefix = entries.iter().filter(|entry| entry.prefix() == prefix);
    let lines: Vec<String> =
        of_prefix.map(|entry| format!("{}:{}", &digest(kind, entry)[5..], entry.count)).collect();
    lines.join("\r\n")
}

/// Generates reproducible random entries.
pub struct Numbers(Random);

impl Numbers {
    pub fn new(seed: u64) -> Self {
        Self(Random::new(seed))
    }

    pub fn next(&mut self) -> u64 {
        self.0.number()
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

    /// Returns ascending entries. `sizes` contains the number of entries for each prefix.
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
pub struct App {
    pub service: Passwords,
    server: TestServer,
}

impl App {
    pub async fn start(data: &Data) -> Self {
        Self::start_with(data, |_, _| ()).await
    }

    pub async fn start_with(
        data: &Data,
        change: impl FnOnce(&mut Settings, &mut ShellSettings),
    ) -> Self {
        let mut settings = Settings { reload_interval: 0, ..Settings::default() };
        let mut shell = ShellSettings::for_tests(data.path());
        change(&mut settings, &mut shell);
        let service = Passwords::open(&settings, data.path());
        let server = TestServer::start_with(service.clone(), |settings| *settings = shell).await;
        Self { service, server }
    }

    pub fn server(&self) -> &TestServer {
        &self.server
    }

    pub fn get(&self, path: &str) -> reqwest::RequestBuilder {
        self.server.get(path)
    }

    pub async fn text(&self, path: &str) -> String {
        let answer = self.get(path).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        answer.text().await.unwrap()
    }

    pub async fn admin_status(&self, path: &str) -> u16 {
        self.server.admin(path).send().await.unwrap().status().as_u16()
    }

    /// Sends raw bytes and reads until the server closes the connection.
    pub async fn raw(&self, request: &str) -> RawAnswer {
        self.server.raw(request).await
    }
}
