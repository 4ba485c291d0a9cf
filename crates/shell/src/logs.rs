//! Log lines on stderr, for people or as one JSON object a line.

use std::io::Write;

use env_logger::fmt::Formatter;
use env_logger::{Builder, Env};
use log::kv::{Error, Key, Value, VisitSource};
use log::{LevelFilter, Record};
use serde_json::{Map, Value as Json};

use crate::LogFormat;

/// Starts logging; a second call changes nothing.
pub(crate) fn start(format: LogFormat) {
    let mut builder = Builder::new();
    // Its lines about threads and sockets say nothing that ours do not; RUST_LOG can ask for them.
    builder.filter_module("actix_server", LevelFilter::Warn);
    builder.parse_env(Env::default().default_filter_or("info"));
    if format == LogFormat::Json {
        builder.format(write_json);
    }
    if builder.try_init().is_err() {
        log::debug!("logging had been started before");
    }
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
    fn a_json_line_has_level_message_and_the_given_members() {
        let members = members(
            &Record::builder()
                .level(log::Level::Warn)
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
