//! The environment variables that a service reads, taken from its clap arguments.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::ExitCode;

use clap::CommandFactory;
use shell::{Cli, Preview, ServiceInfo, ShellSettings};

use super::{files, has_database, root};

/// Variables that libraries read: the log filter and the path of the OpenSSL certificates.
const OF_LIBRARIES: [&str; 2] = ["RUST_LOG", "SSL_CERT_FILE"];

/// Returns the names of a service's settings.
pub fn of(service: &str) -> BTreeSet<String> {
    let mut folders = vec!["crates/shell/src".to_owned(), format!("services/{service}/src")];
    if has_database(service) {
        folders.push("crates/database/src".to_owned());
        folders.push("crates/auth/src".to_owned());
    }
    let libraries = OF_LIBRARIES.map(str::to_owned);
    libraries.into_iter().chain(folders.iter().flat_map(|folder| below(folder))).collect()
}

/// Returns the names of the settings in the sources of a folder.
pub fn below(folder: &str) -> BTreeSet<String> {
    files(&root().join(folder), "rs")
        .iter()
        .flat_map(|path| variables(&std::fs::read_to_string(path).unwrap()))
        .collect()
}

/// Fails unless each name is a setting of the service and each value of a shared setting is valid.
pub fn check(place: &str, service: &str, environment: &BTreeMap<String, Option<String>>) {
    let known = of(service);
    for name in environment.keys() {
        assert!(known.contains(name), "{place}: {service} has no setting {name}");
    }
    let command = Shared::command();
    let shared: BTreeMap<String, &str> = command
        .get_arguments()
        .filter_map(|arg| Some((arg.get_env()?.to_str()?.to_owned(), arg.get_long()?)))
        .collect();
    let flags = environment.iter().filter_map(|(name, value)| {
        let value = value.as_ref().filter(|value| !value.contains('$'))?;
        Some(format!("--{}={value}", shared.get(name)?).into())
    });
    let line = std::iter::once(service.into()).chain(flags);
    if let Err(error) = shell::parse::<Shared>(line) {
        panic!("{place}: {service} refuses a setting: {error}");
    }
}

/// Returns the shared settings with their default values.
pub fn defaults() -> ShellSettings {
    let line = [std::ffi::OsString::from("service")];
    shell::parse::<Shared>(line).map(|shared| shared.shell).unwrap()
}

/// A command line with only the shared settings.
#[derive(clap::Parser)]
struct Shared {
    #[command(flatten)]
    shell: ShellSettings,
}

impl Cli for Shared {
    const INFO: ServiceInfo = ServiceInfo::new("shared", "", "", "0", 1);

    fn shell(&self) -> &ShellSettings {
        &self.shell
    }

    fn preview(&self, _: &mut Preview) {}

    fn back_up(&self, _: &Path) -> anyhow::Result<()> {
        Ok(())
    }

    fn restore(&self, _: &Path) -> anyhow::Result<()> {
        Ok(())
    }

    fn run(self) -> anyhow::Result<ExitCode> {
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns the variables of all `#[arg(… env …)]` fields of a source file.
fn variables(source: &str) -> Vec<String> {
    source
        .match_indices("#[arg(")
        .filter_map(|(at, opening)| {
            let (items, rest) = arguments(&source[at + opening.len()..])?;
            let env = items.iter().find(|item| *item == "env" || item.starts_with("env ="))?;
            match env.split_once('"') {
                Some((_, name)) => Some(name.trim_end_matches('"').to_owned()),
                None => field(rest).map(|name| name.to_uppercase()),
            }
        })
        .collect()
}

/// Returns the items of an attribute up to its closing parenthesis, and the remaining text.
fn arguments(text: &str) -> Option<(Vec<String>, &str)> {
    let (mut depth, mut quoted, mut items) = (0_usize, false, vec![String::new()]);
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '(' | '[' if !quoted => depth += 1,
            ')' if !quoted && depth == 0 => {
                let items = items.iter().map(|item| item.trim().to_owned()).collect();
                return Some((items, &text[at + 1..]));
            }
            ')' | ']' if !quoted => depth -= 1,
            ',' if !quoted && depth == 0 => {
                items.push(String::new());
                continue;
            }
            _ => {}
        }
        items.last_mut()?.push(c);
    }
    None
}

/// Returns the name of the field that follows an attribute.
fn field(text: &str) -> Option<&str> {
    let line = text
        .trim_start_matches(']')
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty() && !line.starts_with('#') && !line.starts_with("//"))?;
    let name = line.trim_start_matches("pub(crate) ").trim_start_matches("pub ");
    name.split_once(':').map(|(name, _)| name.trim())
}

#[test]
fn variables_are_found_in_every_form_of_the_attribute() {
    let source = r#"
        /// A. #[arg(long)] in a comment is ignored
        #[arg(long, env, value_name = "A, (B")]
        pub plain_name: u8,
        #[arg(
            long,
            value_parser = [1, 2],
            env = "OTHER"
        )]
        #[doc(hidden)]
        pub(crate) renamed: u8,
        #[arg(long, default_value = "env")]
        flag_only: u8,
        #[arg(env, hide_env_values = true)]
        /// Comment between.
        secret: String,
    "#;
    assert_eq!(variables(source), ["PLAIN_NAME", "OTHER", "SECRET"]);
}

#[test]
fn shared_settings_are_known_for_every_service() {
    for &service in super::SERVICES.iter() {
        let known = of(service);
        for name in ["BIND", "ADMIN_BIND", "TLS_MODE", "DATA_DIR", "SHUTDOWN_TIMEOUT"] {
            assert!(known.contains(name), "{service}: {name} among {known:?}");
        }
        assert_eq!(known.contains("DATABASE_URL"), has_database(service), "{service}");
    }
}

#[test]
#[should_panic(expected = "has no setting DATABASE_URL")]
fn a_setting_of_another_service_is_refused() {
    let environment = BTreeMap::from([("DATABASE_URL".to_owned(), None)]);
    check("here", "passwords", &environment);
}

#[test]
#[should_panic(expected = "refuses a setting")]
fn a_value_that_no_service_takes_is_refused() {
    let environment = BTreeMap::from([("TLS_MODE".to_owned(), Some("maybe".to_owned()))]);
    check("here", "calendar", &environment);
}
