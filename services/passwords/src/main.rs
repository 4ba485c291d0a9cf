//! The `passwords` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    web::main::<passwords::config::Cli>()
}
