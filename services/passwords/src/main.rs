//! The `passwords` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    shell::main::<passwords::Cli>()
}
