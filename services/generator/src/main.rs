//! The command line of the generator.

use std::process::ExitCode;

fn main() -> ExitCode {
    web::main::<generator::config::Cli>()
}
