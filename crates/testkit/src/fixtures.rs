//! Data written by released versions, for testing upgrades.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::must::must;
use crate::{Folder, Program};

/// A service's data in `fixtures/VERSION`, as written by that version.
///
/// ```no_run
/// use testkit::{Fixture, Program};
///
/// let program = || Program::new("target/debug/calendar");
/// for fixture in Fixture::all("calendar") {
///     let restored = fixture.restored(program());
///     restored.done(&["users", "list"]);
/// }
/// ```
#[derive(Debug)]
pub struct Fixture {
    name: String,
    folder: PathBuf,
}

impl Fixture {
    /// Returns a service's fixtures, one per version.
    ///
    /// # Panics
    /// Panics if the service doesn't have any.
    pub fn all(name: &str) -> Vec<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
        let versions = must("list the fixtures", fs::read_dir(root));
        let fixture = |folder: PathBuf| Self { name: name.to_owned(), folder };
        let all: Vec<Self> = versions.flatten().map(|entry| fixture(entry.path())).collect();
        assert!(!all.is_empty(), "there are no fixtures");
        all
    }

    /// Restores the backup to the empty data folder of a program.
    ///
    /// # Panics
    /// Panics if the program rejects the backup.
    #[must_use]
    pub fn restored(&self, program: Program) -> Program {
        self.restore(&program, "tar.gz");
        program
    }

    fn restore(&self, program: &Program, extension: &str) {
        let folder = Folder::new();
        let archive = self.folder.join(format!("{}.{extension}", self.name));
        let mut unpack = Command::new("tar");
        unpack.arg("-C").arg(folder.path()).arg("-xzf").arg(archive);
        assert!(must("run tar", unpack.status()).success());
        let backup = folder.join(&self.name);
        program.done(&["restore".as_ref(), backup.as_os_str()]);
    }

    /// Creates a PostgreSQL database from the dump, and restores the other files. Returns `None` if
    /// tests run on SQLite.
    ///
    /// # Panics
    /// Panics if the server rejects the dump.
    #[cfg(feature = "database")]
    #[must_use]
    pub fn on_server(&self, program: Program) -> Option<Program> {
        let program = program.with_database();
        if program.database().file().is_some() {
            return None;
        }
        let dump = fs::read_to_string(self.folder.join(format!("{}.sql", self.name)));
        program.database().run(&must("read the dump", dump));
        self.restore(&program, "postgres.tar.gz");
        Some(program)
    }
}
