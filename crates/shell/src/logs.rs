//! Lines on stderr, for people or as one JSON object a line.
//!
//! Everything that a service writes there goes through here: log lines, what a command tells its
//! operator (log lines with the target `notice`, in text as they are and whatever `RUST_LOG` says), the
//! error that ends the process, and panics.

use std::ffi::{OsStr, OsString};
use std::io::Write;

use env_logger::fmt::{ConfigurableFormat, Formatter};
use env_logger::{Builder, Env};
use log::kv::{Error, Key, Value, VisitSource};
use log::{Level, LevelFilter, Record};
use serde_json::{Map, Value as Json};

use crate::LogFormat;

/// The target of lines that a command tells its operator.
const NOTICE: &str = "notice";

/// Starts logging; a second call changes nothing.
///
/// # Errors
/// A sentence about `RUST_LOG`; the library itself would print one, whatever the form of lines is.
pub(crate) fn start(format: LogFormat) -> Result<(), String> {
    let filter = std::env::var("RUST_LOG").unwrap_or_default();
    if let Err(error) = env_filter::Builder::new().try_parse(&filter) {
        return Err(format!("RUST_LOG: {error}"));
    }
    let mut builder = Builder::new();
    // Its lines about threads and sockets say nothing that ours do not; RUST_LOG can ask for them.
    builder.filter_module("actix_server", LevelFilter::Warn);
    // What a client sends that is not HTTP is answered, counted and in the access log: no ERROR line.
    builder.filter_module("actix_http::h1::dispatcher", LevelFilter::Off);
    builder.parse_env(Env::default().default_filter_or("info"));
    builder.filter_module(NOTICE, LevelFilter::Info);
    match format {
        LogFormat::Text => {
            let usual = ConfigurableFormat::default();
            builder.format(move |out, record| write_text(&usual, out, record));
        }
        LogFormat::Json => {
            builder.format(write_json);
            std::panic::set_hook(Box::new(|panic| {
                // The place and the message, without a backtrace: a line stays a line.
                fail(LogFormat::Json, "panic", &panic.to_string().replace('\n', " "));
            }));
        }
    }
    if builder.try_init().is_err() {
        log::debug!("logging had been started before");
    }
    Ok(())
}

/// Says why the process ends, whatever `RUST_LOG` says.
pub(crate) fn fail(format: LogFormat, target: &str, message: &str) {
    match format {
        LogFormat::Text => eprintln!("error: {message}"),
        LogFormat::Json => {
            let arguments = format_args!("{message}");
            let record =
                Record::builder().level(Level::Error).target(target).args(arguments).build();
            eprintln!("{}", Json::Object(members(&record)));
        }
    }
}

/// The form of lines that a command line or the environment asks for, before they are parsed.
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

struct Members<'a>(&'a mut Map<String, Json>);

impl<'kvs> VisitSource<'kvs> for Members<'_> {
    fn visit_pair(&mut self, key: Key<'kvs>, value: Value<'kvs>) -> Result<(), Error> {
        let value = serde_json::to_value(&value).unwrap_or_else(|_| value.to_string().into());
        self.0.insert(key.as_str().to_owned(), value);
        Ok(())
    }
}

fn write_json(out: &mut Formatter, record: &Record<'_>) -> std::io::Result<()> {
    writeln!(out, "{}", Json::Object(members(record)))
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
    use super::*;

    #[test]
    fn the_form_of_lines_is_known_before_the_command_line_is_parsed() {
        let of = |line: &[&str], variable: Option<&str>| {
            let line: Vec<_> = line.iter().map(OsString::from).collect();
            format_of(&line, variable.map(OsStr::new))
        };
        assert_eq!(of(&["x"], None), LogFormat::Text);
        assert_eq!(of(&["x", "--bad"], Some("json")), LogFormat::Json);
        assert_eq!(of(&["x", "--log-format", "json", "--bad"], None), LogFormat::Json);
        assert_eq!(of(&["x", "--log-format=text"], Some("json")), LogFormat::Text);
        assert_eq!(of(&["x", "--log-formatter=json"], None), LogFormat::Text);
    }

    #[test]
    fn a_json_line_has_level_message_and_the_given_members() {
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
