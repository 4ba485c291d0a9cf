//! Log lines on stderr, as text or as one JSON object per line.
//!
//! Everything that we print to stderr goes through this module, including panics and the error that
//! ends the process. Messages from commands are log lines with the target `notice`, which aren't
//! filtered by `RUST_LOG` and appear without a prefix in the text format. Writing never fails, so a
//! process that can't write to stderr still does its work and exits with the right code.

mod lines;

use std::backtrace::{Backtrace, BacktraceStatus};
use std::ffi::{OsStr, OsString};
use std::io::{IsTerminal, Write, stderr};
use std::panic::PanicHookInfo;
use std::sync::OnceLock;
use std::time::Duration;

use env_logger::fmt::{ConfigurableFormat, Formatter};
use env_logger::{Builder, Env, Target, WriteStyle};
use log::kv::{Error, Key, Source, Value, VisitSource};
use log::{Level, LevelFilter, Record};
use serde_json::{Map, Value as Json};

use self::lines::Lines;
use crate::LogFormat;

/// The target for messages from commands.
const NOTICE: &str = "notice";
/// The target for the line that reports lost lines.
const LOGS: &str = "logs";
/// Our shared crates. `RUST_LOG` can show their lines at any level, like the service's own.
const SHARED: [&str; 6] = ["auth", "batch", "database", "domain", "outbound", "shell"];
/// Maximum number of bytes in the queue. This is enough for a few thousand lines.
const ROOM: usize = 1 << 20;
/// How long an exiting process waits for its last lines to be written.
const LAST_LINES: Duration = Duration::from_secs(1);

/// Library modules whose lines are useless below a certain level. `RUST_LOG` can enable them.
const QUIET: [(&str, LevelFilter); 4] = [
    // Lines about threads and sockets that duplicate ours.
    ("actix_server", LevelFilter::Warn),
    // Logs malformed requests as errors, but the shell already answers them, counts them, and puts
    // them in the access log.
    ("actix_http::h1::dispatcher", LevelFilter::Off),
    // Warns if segments are gone when their merge ends, which is normal: a publish drops segments
    // whose files it has all replaced. The merge's result is then discarded.
    ("tantivy::indexer::segment_manager", LevelFilter::Error),
    // Warns if a merge can't start or is cancelled because another merge or a commit has replaced
    // its segments, which is normal when a removal rewrites segments, or when one command writes
    // shortly after another. If a disk is full or a file is damaged, the next commit fails, or
    // `verify` finds it.
    ("tantivy::indexer::segment_updater", LevelFilter::Error),
];

static LINES: Lines = Lines::new(ROOM);
/// The line format, which is set when logging starts.
static FORMAT: OnceLock<LogFormat> = OnceLock::new();

/// Receives the output of the logger.
struct Sink;

impl Write for Sink {
    fn write(&mut self, lines: &[u8]) -> std::io::Result<usize> {
        LINES.push(lines, stderr());
        Ok(lines.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Starts logging for a service. Calling this again does nothing.
///
/// Lines from libraries are dropped below `info`, because at `trace` some of them contain client
/// data.
///
/// # Errors
/// Returns an error if `RUST_LOG` is invalid. The library itself would print this error without
/// regard to `format`.
pub(crate) fn start(format: LogFormat, service: &'static str) -> Result<(), String> {
    let filter = std::env::var("RUST_LOG").unwrap_or_default();
    if let Err(error) = env_filter::Builder::new().try_parse(&filter) {
        return Err(format!("RUST_LOG: {error}"));
    }
    // The library takes anything else for the name of a module.
    let directives = filter.split('/').next().unwrap_or_default().split(',');
    let mut names = directives.map(|part| part.split('=').next().unwrap_or_default().trim());
    let is_odd =
        |name: &&str| !name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | ':' | '-'));
    if let Some(odd) = names.find(is_odd) {
        return Err(format!("RUST_LOG: {odd} is not a level or module"));
    }
    let mut builder = Builder::new();
    for (module, level) in QUIET {
        builder.filter_module(module, level);
    }
    if has_colours() {
        builder.write_style(WriteStyle::Always);
    }
    builder.parse_env(Env::default().default_filter_or("info"));
    builder.filter_module(NOTICE, LevelFilter::Info);
    builder.target(Target::Pipe(Box::new(Sink)));
    let mut usual = ConfigurableFormat::default();
    usual.key_values(write_members);
    builder.format(move |out, record| {
        if !may_be_shown(record, service) {
            return Ok(());
        }
        match format {
            LogFormat::Text => write_text(&usual, out, record),
            LogFormat::Json => writeln!(out, "{}", Json::Object(members(record))),
        }
    });
    if builder.try_init().is_err() {
        log::debug!("logging is already started");
        return Ok(());
    }
    let _ = FORMAT.set(format);
    std::panic::set_hook(Box::new(move |panic| report_panic(format, panic)));
    Ok(())
}

/// Starts the thread that writes lines, so that a stalled reader of stderr can't delay a command by
/// more than a second.
pub(crate) fn queue() {
    let report = move |lost: u64| {
        let format = FORMAT.get().copied().unwrap_or(LogFormat::Text);
        let what = if lost == 1 { "log line was" } else { "log lines were" };
        let arguments = format_args!("{lost} {what} lost: stderr could not be written");
        let pairs = [("lost", lost)];
        match format {
            LogFormat::Text => {
                let time = jiff::Timestamp::now().as_second();
                let time = jiff::Timestamp::from_second(time).unwrap_or_default();
                format!("[{time} WARN  {LOGS}] {arguments}\n")
            }
            LogFormat::Json => {
                let mut record = Record::builder();
                record.level(Level::Warn).target(LOGS).args(arguments).key_values(&pairs);
                format!("{}\n", Json::Object(members(&record.build())))
            }
        }
    };
    // If the thread can't be created, lines are simply written directly.
    let _ = LINES.queue(stderr(), report);
}

/// Makes log lines never wait for the reader of stderr from now on.
pub(crate) fn never_wait() {
    LINES.never_wait();
}

/// Waits up to a second for the queue to be written.
pub(crate) fn flush() {
    LINES.flush(LAST_LINES);
}

pub(crate) fn refuse(format: LogFormat, fault: &str) {
    fail(format, "usage", fault);
}

/// Prints a usage error with the colored text from the command-line parser.
pub(crate) fn refuse_with(text: &clap::builder::StyledStr) {
    let text = if has_colours() { text.ansi().to_string() } else { text.to_string() };
    LINES.push(text.as_bytes(), stderr());
    flush();
}

/// Prints the error that ends the process, regardless of `RUST_LOG`.
pub(crate) fn fail(format: LogFormat, target: &str, message: &str) {
    let line = match format {
        LogFormat::Text => format!("error: {message}\n"),
        LogFormat::Json => {
            let arguments = format_args!("{message}");
            let mut record = Record::builder();
            let record = record.level(Level::Error).target(target).args(arguments).build();
            format!("{}\n", Json::Object(members(&record)))
        }
    };
    LINES.push(line.as_bytes(), stderr());
    flush();
}

/// Prints a panic. The standard library's hook isn't used because it would wait for the reader of
/// stderr.
fn report_panic(format: LogFormat, panic: &PanicHookInfo<'_>) {
    if format == LogFormat::Json {
        // Leave out the backtrace, because it takes up several lines.
        let text = panic.to_string().replace('\n', " ");
        let arguments = format_args!("{text}");
        let mut record = Record::builder();
        let record = record.level(Level::Error).target("panic").args(arguments).build();
        LINES.push(format!("{}\n", Json::Object(members(&record))).as_bytes(), stderr());
    } else {
        let thread = std::thread::current();
        let mut text = format!("thread '{}' {panic}\n", thread.name().unwrap_or("<unnamed>"));
        let backtrace = Backtrace::capture();
        if backtrace.status() == BacktraceStatus::Captured {
            text.push_str(&format!("stack backtrace:\n{backtrace}\n"));
        }
        LINES.push(text.as_bytes(), stderr());
    }
    // When the main thread ends, so does the process.
    if std::thread::current().name() == Some("main") {
        flush();
    }
}

/// Returns whether a line can be shown. Below `info`, libraries might log request data.
fn may_be_shown(record: &Record<'_>, service: &str) -> bool {
    let krate = record.target().split("::").next().unwrap_or_default();
    record.level() <= Level::Info || krate == service || SHARED.contains(&krate)
}

/// Returns whether to color lines, as we do on a terminal unless the environment says otherwise.
fn has_colours() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
    stderr().is_terminal() && !is_set("NO_COLOR") && !is_dumb
}

/// Determines the log format from the command line or the environment before the settings are
/// parsed.
pub(crate) fn format_of(arguments: &[OsString], variable: Option<&OsStr>) -> LogFormat {
    let mut asked = variable.and_then(OsStr::to_str);
    let mut rest = arguments.iter().filter_map(|argument| argument.to_str());
    while let Some(argument) = rest.next() {
        match argument.strip_prefix("--log-format") {
            Some("") => asked = rest.next(),
            Some(value) => asked = value.strip_prefix('=').or(asked),
            None => {}
        }
    }
    if asked == Some("json") { LogFormat::Json } else { LogFormat::Text }
}

fn write_text(
    usual: &ConfigurableFormat,
    out: &mut Formatter,
    record: &Record<'_>,
) -> std::io::Result<()> {
    if record.target() == NOTICE {
        let kind = match record.level() {
            Level::Error => "error: ",
            Level::Warn => "warning: ",
            _ => "",
        };
        return writeln!(out, "{kind}{}", record.args());
    }
    usual.format(out, record)
}

/// Writes a line's fields as ` name=value`.
fn write_members(out: &mut Formatter, source: &dyn Source) -> std::io::Result<()> {
    source.visit(&mut Words(out)).map_err(std::io::Error::other)
}

/// Writes a text line's fields, quoting values that aren't a single plain word.
struct Words<'a>(&'a mut Formatter);

impl<'kvs> VisitSource<'kvs> for Words<'_> {
    fn visit_pair(&mut self, key: Key<'kvs>, value: Value<'kvs>) -> Result<(), Error> {
        let text = value.to_string();
        match is_plain(&text) {
            true => write!(self.0, " {key}={text}")?,
            false => write!(self.0, " {key}={text:?}")?,
        }
        Ok(())
    }
}

/// Returns whether a string is a single word without quotes and control characters.
fn is_plain(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"\\=".contains(&byte))
}

struct Members<'a>(&'a mut Map<String, Json>);

impl<'kvs> VisitSource<'kvs> for Members<'_> {
    fn visit_pair(&mut self, key: Key<'kvs>, value: Value<'kvs>) -> Result<(), Error> {
        let value = serde_json::to_value(&value).unwrap_or_else(|_| value.to_string().into());
        self.0.insert(key.as_str().to_owned(), value);
        Ok(())
    }
}

fn members(record: &Record<'_>) -> Map<String, Json> {
    let mut line = Map::new();
    line.insert("time".into(), jiff::Timestamp::now().to_string().into());
    line.insert("level".into(), record.level().as_str().into());
    line.insert("target".into(), record.target().into());
    line.insert("message".into(), record.args().to_string().into());
    if let Err(error) = record.key_values().visit(&mut Members(&mut line)) {
        line.insert("log_error".into(), error.to_string().into());
    }
    line
}

#[cfg(test)]
mod tests {
    use log::Log as _;

    use super::*;

    #[test]
    fn the_format_is_known_before_the_command_line_is_parsed() {
        let format = |line: &[&str], variable: Option<&str>| {
            let line: Vec<_> = line.iter().map(OsString::from).collect();
            format_of(&line, variable.map(OsStr::new))
        };
        assert_eq!(format(&["x"], None), LogFormat::Text);
        assert_eq!(format(&["x", "--bad"], Some("json")), LogFormat::Json);
        assert_eq!(format(&["x", "--log-format", "json", "--bad"], None), LogFormat::Json);
        assert_eq!(format(&["x", "--log-format=text"], Some("json")), LogFormat::Text);
        assert_eq!(format(&["x", "--log-formatter=json"], None), LogFormat::Text);
    }

    #[test]
    fn useless_lines_of_libraries_are_shown_on_request() {
        let shows = |filter: &str, target: &str, level: Level| {
            let mut builder = Builder::new();
            for (module, level) in QUIET {
                builder.filter_module(module, level);
            }
            let logger = builder.parse_filters(filter).build();
            logger.enabled(&log::Metadata::builder().target(target).level(level).build())
        };
        for merges in ["tantivy::indexer::segment_manager", "tantivy::indexer::segment_updater"] {
            for filter in ["info", "warn"] {
                assert!(!shows(filter, merges, Level::Warn) && shows(filter, merges, Level::Error));
                assert!(shows(filter, "tantivy::indexer::index_writer", Level::Warn));
            }
            assert!(shows(&format!("info,{merges}=warn"), merges, Level::Warn));
        }
    }

    #[test]
    fn a_json_line_has_level_message_and_members() {
        let members = members(
            &Record::builder()
                .level(Level::Warn)
                .target("access")
                .args(format_args!("GET \"/\"\n200"))
                .key_values(&[("status", 200)])
                .build(),
        );
        let line = Json::Object(members).to_string();
        assert!(!line.contains('\n'));
        let line: Json = serde_json::from_str(&line).unwrap();
        assert_eq!(line["level"], "WARN");
        assert_eq!(line["message"], "GET \"/\"\n200");
        assert_eq!(line["status"], 200);
        assert!(line["time"].as_str().unwrap().ends_with('Z'));
    }
}
