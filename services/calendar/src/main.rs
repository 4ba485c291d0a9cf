//! The `calendar` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    shell::main::<calendar::Cli>()
}
