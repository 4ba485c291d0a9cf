//! Runs a service's binary: its commands and servers, including crashes.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::must::must;
use crate::{Folder, Process, Served};

/// A service's binary, with its own data folder and settings.
///
/// ```no_run
/// use testkit::{Program, until_blocking};
///
/// // In a test of a service: `Program::new(env!("CARGO_BIN_EXE_passwords"))`.
/// let program = Program::new("target/debug/passwords").setting("RELOAD_INTERVAL", "1");
/// let path = program.done(&["build", "--activate", "list.txt"]);
/// assert!(path.ends_with(".pwr\n"));
///
/// let refused = program.run(&["build", "--no-such-flag"]);
/// assert_eq!(refused.code, Some(2));
///
/// let server = program.serve(&[]);
/// until_blocking("the request is logged", || server.log().contains("GET"));
/// ```
#[derive(Debug)]
pub struct Program {
    binary: PathBuf,
    folder: Folder,
    settings: Vec<(OsString, OsString)>,
    #[cfg(feature = "database")]
    database: Option<crate::Database>,
}

/// The outcome of a process.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The exit code, or `None` if the process was killed by a signal.
    pub code: Option<i32>,
    /// Everything written to stdout.
    pub out: String,
    /// Everything written to stderr.
    pub errors: String,
    /// Peak memory in MiB, or 0 if it can't be measured.
    pub peak_mib: u64,
}

impl Ran {
    /// Returns the stdout of a successful command.
    ///
    /// # Panics
    /// Panics if the command failed.
    #[track_caller]
    pub fn done(self) -> String {
        assert_eq!(self.code, Some(0), "{}{}", self.out, self.errors);
        self.out
    }
}

impl Program {
    /// Creates a program with an empty data folder. `binary` is usually
    /// `env!("CARGO_BIN_EXE_NAME")`.
    pub fn new(binary: impl Into<PathBuf>) -> Self {
        Self {
            binary: binary.into(),
            folder: Folder::new(),
            settings: Vec::new(),
            #[cfg(feature = "database")]
            database: None,
        }
        .setting("RUST_LOG", "info")
        // On a busy machine, requests may have to wait for the database.
        .setting("DB_WAIT_MS", "20000")
    }

    /// Gives the program its own database, which is migrated automatically.
    #[cfg(feature = "database")]
    #[must_use]
    pub fn with_database(self) -> Self {
        let database = crate::Database::new();
        let program = self.setting("DATABASE_URL", database.url()).setting("AUTO_MIGRATE", "true");
        Self { database: Some(database), ..program }
    }

    /// Sets an environment variable, replacing any earlier value.
    #[must_use]
    pub fn setting(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.settings.push((name.into(), value.into()));
        self
    }

    /// Returns the test's folder, which is the default for `DATA_DIR`.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Returns the database.
    ///
    /// # Panics
    /// Panics if the program doesn't have one.
    #[cfg(feature = "database")]
    pub fn database(&self) -> &crate::Database {
        must("find the database", self.database.as_ref().ok_or("the program has none"))
    }

    /// Returns a command with the program's settings, to which more changes can be made.
    pub fn command<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Command {
        let mut command = Command::new(&self.binary);
        command.env("DATA_DIR", self.folder.path()).args(arguments).stdin(Stdio::null());
        command.envs(self.settings.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs a command until it exits.
    ///
    /// # Panics
    /// Panics if the command can't be started or hangs.
    #[track_caller]
    pub fn run<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Ran {
        self.run_command(self.command(arguments))
    }

    /// Runs a modified [`command`](Self::command) until it exits.
    ///
    /// # Panics
    /// Panics if the command can't be started or hangs.
    #[track_caller]
    pub fn run_command(&self, mut command: Command) -> Ran {
        // Unlike pipes, files accept any amount of output without being read.
        let folder = Folder::new();
        let (out, errors) = (folder.join("stdout"), folder.join("stderr"));
        let file = |path: &Path| must("make a file for output", File::create(path));
        let mut process = Process::spawn(command.stdout(file(&out)).stderr(file(&errors)));
        let (code, peak_mib) = process.wait_measured();
        let text = |path: &Path| {
            let bytes = must("read the output", std::fs::read(path));
            String::from_utf8_lossy(&bytes).into_owned()
        };
        Ran { code, out: text(&out), errors: text(&errors), peak_mib }
    }

    /// Runs a command until it exits, and returns its stdout.
    ///
    /// # Panics
    /// Panics if the command fails.
    #[track_caller]
    pub fn done<A: AsRef<OsStr>>(&self, arguments: &[A]) -> String {
        self.run(arguments).done()
    }

    /// Runs a command with `--json`, and returns its output.
    ///
    /// # Panics
    /// Panics if the command fails or if its output isn't JSON.
    #[track_caller]
    pub fn json(&self, arguments: &[&str]) -> Value {
        let printed = self.done(&[arguments, &["--json"]].concat());
        must("read the output as JSON", serde_json::from_str(&printed))
    }

    /// Runs a command with `input` on stdin until it exits.
    ///
    /// # Panics
    /// Panics if the command can't be started.
    #[track_caller]
    pub fn pipe<A: AsRef<OsStr>>(&self, arguments: &[A], input: &[u8]) -> Ran {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = must("start the program", command.spawn());
        let stdin = child.stdin.take();
        let output = std::thread::scope(|scope| {
            // The program might close the pipe before it has read everything.
            scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input)));
            must("run the program", child.wait_with_output())
        });
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let (code, out, errors) = (output.status.code(), text(output.stdout), text(output.stderr));
        Ran { code, out, errors, peak_mib: 0 }
    }

    /// Starts a command and discards its output.
    ///
    /// # Panics
    /// Panics if the command can't be started.
    #[track_caller]
    pub fn start<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Process {
        let mut command = self.command(arguments);
        Process::spawn(command.stdout(Stdio::null()).stderr(Stdio::null()))
    }

    /// Starts a server on free ports. By default, it runs without TLS.
    ///
    /// # Panics
    /// Panics if the addresses don't show up in the log.
    #[track_caller]
    pub fn serve(&self, arguments: &[&str]) -> Served {
        Served::start(self.serving(arguments))
    }

    /// Returns the command that [`serve`](Self::serve) would run, to which more changes can be
    /// made.
    pub fn serving(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(&["serve"]);
        let free = "127.0.0.1:0";
        command.env("BIND", free).env("TLS_BIND", free).env("ADMIN_BIND", free);
        command.env("TLS_MODE", "off").args(arguments);
        command
    }
}
