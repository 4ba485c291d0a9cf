//! `report`.

use std::fmt::Write as _;
use std::io::{BufWriter, Write};
use std::net::IpAddr;
use std::process::ExitCode;

use ::domain::{DomainName, SystemClock};

use crate::app::{self, ExposureReport, Pieces, ReportCsv, ReportJson};
use crate::jobs::JobContext;
use crate::model::instant;
use crate::model::report::Period;

/// The command `report`.
#[derive(clap::Args)]
pub struct Report {
    /// Domain to report on
    domain: String,
    /// Include breaches added at or after this date or time, such as 2026-01-31 or
    /// 2026-01-31T12:00Z. It must not be in the future
    #[arg(long, value_name = "DATE", value_parser = since)]
    since: i64,
    /// Output format. The text lists only the addresses in the most breaches; the other formats
    /// list all
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    format: ReportFormat,
    /// Same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

/// Report formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ReportFormat {
    /// Human-readable text
    Text,
    /// One row per address and new breach
    Csv,
    /// One JSON object, as returned by the API
    Json,
}

/// Returns whether the text after an `@` is an IP address, with or without brackets.
fn is_ip_address(text: &str) -> bool {
    let text = text.trim().trim_matches(['[', ']']);
    let text = text
        .get(..5)
        .filter(|start| start.eq_ignore_ascii_case("ipv6:"))
        .map_or(text, |_| &text[5..]);
    text.parse::<IpAddr>().is_ok()
}

fn since(text: &str) -> Result<i64, String> {
    let since = instant::parse_since(text).ok_or_else(|| {
        "a date such as 2026-01-31, or a time such as 2026-01-31T12:00Z".to_owned()
    })?;
    match since > SystemClock::shared().unix() {
        true => Err(format!("{} (UTC) is in the future", instant::without_zone(since))),
        false => Ok(since),
    }
}

impl Report {
    /// Prints a domain's new exposures as its controllers see them, including sensitive breaches.
    pub fn run(self, context: &JobContext) -> anyhow::Result<ExitCode> {
        if is_ip_address(&self.domain) {
            anyhow::bail!(
                "{} is an IP address: reports are about domains; look up its addresses one by one, with \
                 address show",
                self.domain
            );
        }
        let domain = DomainName::parse(&self.domain)?;
        let period = Period { since: self.since, until: i64::MAX };
        let mut db = context.pools.connect()?;
        let rows = app::operator_report(&mut db, &context.settings, &domain, period)?;
        let mut out = BufWriter::new(std::io::stdout().lock());
        let now = context.clock.unix();
        let format = if self.json { ReportFormat::Json } else { self.format };
        batch::until_closed(match format {
            ReportFormat::Text => rows
                .summarize()
                .and_then(|report| out.write_all(text(&report, now).as_bytes()))
                .and_then(|()| out.flush())
                .map_err(Into::into),
            ReportFormat::Csv => print(ReportCsv::new(rows), false, &mut out),
            ReportFormat::Json => print(ReportJson::new(rows, now), true, &mut out),
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

fn print(mut pieces: impl Pieces, newline: bool, out: &mut impl Write) -> anyhow::Result<()> {
    loop {
        let (piece, is_last) = pieces.next_piece()?;
        out.write_all(&piece)?;
        if is_last {
            break;
        }
    }
    if newline {
        out.write_all(b"\n")?;
    }
    Ok(out.flush()?)
}

/// Formats the report as text, with names and addresses separated by tabs.
fn text(report: &ExposureReport, now: i64) -> String {
    let (since, until) = (instant::with_zone(report.period.since), instant::with_zone(now));
    let totals = &report.totals;
    let mut text = format!(
        "{}: exposures in breaches added from {since} to {until}\n\
         {} addresses in new breaches, {} for the first time, {} in several breaches; {} new exposures; \
         {} breached addresses in all\n",
        report.domain,
        totals.exposed_addresses,
        totals.first_exposed_addresses,
        totals.repeated_addresses,
        totals.new_exposures,
        totals.breached_addresses,
    );
    // Writing to a string can't fail.
    let mut line = |line: std::fmt::Arguments<'_>| {
        let _ = text.write_fmt(line);
        text.push('\n');
    };
    if report.rows.is_empty() {
        return text;
    }
    line(format_args!("\nBreach\tDate\tAdded\tAddresses\tExposed data"));
    for breach in &report.breaches {
        let classes = breach.data_classes.join(", ");
        let (name, date) = (&breach.name, &breach.breach_date);
        line(format_args!(
            "{name}\t{date}\t{}\t{}\t{classes}",
            breach.added_date, breach.addresses
        ));
    }
    line(format_args!("\nData class\tAddresses"));
    for class in &report.classes {
        line(format_args!("{}\t{}", class.name, class.addresses));
    }
    line(format_args!("\nAlias\tBreaches in all\tNew breaches"));
    for row in &report.rows {
        line(format_args!("{}\t{}\t{}", row.alias.0, row.count, row.breaches.join(", ")));
    }
    let shown = i64::try_from(report.rows.len()).unwrap_or(i64::MAX);
    if shown < totals.exposed_addresses {
        let all = totals.exposed_addresses;
        line(format_args!("\n{shown} of {all} addresses are shown; --format csv prints all."));
    }
    text
}
