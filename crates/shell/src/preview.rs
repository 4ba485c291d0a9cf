//! Implements `serve --check`, which shows everything that a server would use, but doesn't serve or
//! change anything.

use std::io::{ErrorKind, Write};
use std::net::SocketAddr;
use std::process::ExitCode;

use clap::ArgMatches;

use crate::{
    ListenAddress, ServiceInfo, ShellSettings, TlsMode, capacity, healthcheck, listen, tls,
};

/// The parts that a server would use, in report order, each with a description or an error.
///
/// ```
/// let mut preview = shell::Preview::default();
/// preview.add("corpus", Ok("850 million digests".to_owned()));
/// assert!(!preview.has_faults());
/// preview.add("mail", Err(anyhow::anyhow!("MAIL_FROM is not an address")));
/// assert!(preview.has_faults());
/// ```
#[derive(Debug, Default)]
pub struct Preview(Vec<(&'static str, anyhow::Result<String>)>);

impl Preview {
    /// Adds the result for a part such as `database`. The text must not contain secrets.
    pub fn add(&mut self, part: &'static str, found: anyhow::Result<String>) {
        self.0.push((part, found));
    }

    /// Returns whether `serve` would fail.
    pub fn has_faults(&self) -> bool {
        self.0.iter().any(|(_, found)| found.is_err())
    }
}

/// Returns the name and value of each setting on a command line, sorted by name and with secrets
/// hidden.
pub(crate) fn values(command: &clap::Command, matches: &ArgMatches) -> Vec<(String, String)> {
    let shown = |arg: &clap::Arg| {
        let name = arg.get_env()?.to_str()?.to_owned();
        let values = matches.get_raw(arg.get_id().as_str()).into_iter().flatten();
        let values: Vec<_> = values.map(|value| value.to_string_lossy()).collect();
        let value = match arg.is_hide_env_values_set() && !values.is_empty() {
            true => "(hidden)".to_owned(),
            false => values.join(","),
        };
        Some((name, value))
    };
    let mut values: Vec<_> = command.get_arguments().filter_map(shown).collect();
    values.sort();
    values
}

/// Prints the settings and the results, with `own` adding the service's own parts. The exit code is
/// 2 if `serve` would fail.
///
/// # Errors
/// Returns an error if writing to stdout fails.
pub(crate) fn report(
    info: &ServiceInfo,
    shell: &ShellSettings,
    settings: &[(String, String)],
    own: impl FnOnce(&mut Preview),
) -> anyhow::Result<ExitCode> {
    let (mut preview, replaces) = examine(info, shell);
    own(&mut preview);
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{} {}", info.name, info.version)?;
    for (name, value) in settings {
        writeln!(stdout, "  {name}={value}")?;
    }
    for (part, found) in &preview.0 {
        match found {
            Ok(text) => writeln!(stdout, "{part}: {text}")?,
            Err(error) => writeln!(stdout, "{part}: error: {error:#}")?,
        }
    }
    let faulty = preview.has_faults();
    let verdict = match (faulty, replaces) {
        (true, _) => "`serve` would fail",
        (false, true) => "`serve` can start once the running server has stopped",
        (false, false) => "`serve` can start",
    };
    writeln!(stdout, "{verdict}")?;
    stdout.flush()?;
    Ok(ExitCode::from(if faulty { 2 } else { 0 }))
}

/// Checks the parts that every service uses. Also returns whether a running server uses some of the
/// addresses, which is fine before an upgrade.
fn examine(info: &ServiceInfo, settings: &ShellSettings) -> (Preview, bool) {
    let mut preview = Preview::default();
    let mut replaces = false;
    let mut usable = |addresses: &[ListenAddress]| -> anyhow::Result<String> {
        let text = resolved(addresses)?;
        let Some(address) = listen::in_use(addresses)?.into_iter().next() else { return Ok(text) };
        if !healthcheck::is_running(settings) {
            anyhow::bail!("{address} is in use by another program");
        }
        replaces = true;
        Ok(format!("{text} (in use by the running server)"))
    };
    preview.add("requests", usable(&settings.bind));
    if settings.tls_mode == TlsMode::Native {
        preview.add("HTTPS", usable(&settings.tls_bind));
        preview.add("certificate", tls::preview(settings));
    }
    if let Some(warning) = settings.proxy_warning() {
        preview.add("proxies", Ok(format!("warning: {warning}")));
    }
    let admin = distinct(settings).and_then(|()| usable(&settings.admin_bind));
    preview.add("health and metrics", admin);
    preview.add("open files", open_files(settings));
    preview.add("data folder", data_folder(settings, info));
    (preview, replaces)
}

/// Resolves listen addresses.
fn resolved(addresses: &[ListenAddress]) -> anyhow::Result<String> {
    let mut all = Vec::new();
    for address in addresses {
        match address {
            ListenAddress::Unix(path) => all.push(format!("unix:{}", path.display())),
            _ => all.extend(address.resolve()?.iter().map(ToString::to_string)),
        }
    }
    Ok(all.join(", "))
}

/// Returns an error if two listeners would share an address and port.
pub(crate) fn distinct(settings: &ShellSettings) -> anyhow::Result<()> {
    let is_native = settings.tls_mode == TlsMode::Native;
    let tls = settings.tls_bind.iter().filter(|_| is_native);
    let all = settings.bind.iter().chain(tls).chain(&settings.admin_bind);
    let mut seen: Vec<SocketAddr> = Vec::new();
    for address in all.flat_map(|address| address.resolve().unwrap_or_default()) {
        let overlaps = |other: &SocketAddr| {
            let (one, two) = (address.ip(), other.ip());
            let has_all =
                one.is_ipv4() == two.is_ipv4() && (one.is_unspecified() || two.is_unspecified());
            address.port() == other.port() && address.port() != 0 && (one == two || has_all)
        };
        if seen.iter().any(overlaps) {
            anyhow::bail!("{address} is used twice in BIND, TLS_BIND and ADMIN_BIND");
        }
        seen.push(address);
    }
    Ok(())
}

fn open_files(settings: &ShellSettings) -> anyhow::Result<String> {
    let limit = capacity::open_files(settings.worker_count(), 0)?;
    Ok(format!("at most {limit}, for {} workers", settings.worker_count()))
}

fn data_folder(settings: &ShellSettings, info: &ServiceInfo) -> anyhow::Result<String> {
    let folder = &settings.data_dir;
    let shown = folder.display();
    match folder.metadata() {
        Ok(about) if about.is_dir() => Ok(shown.to_string()),
        Ok(_) => anyhow::bail!("{shown} is not a folder (DATA_DIR)"),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Ok(format!("{shown} does not exist; {} creates it when needed", info.name))
        }
        Err(error) => Err(anyhow::Error::new(error).context(shown.to_string())),
    }
}
