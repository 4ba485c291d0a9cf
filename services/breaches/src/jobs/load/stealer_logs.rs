//! `stealer-logs load`: links addresses to a breach and to the websites where they were captured.

use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::PathBuf;

use batch::{BoundedLines, Line, Sorted};
use domain::{DomainName, EmailAddress};
use serde::{Deserialize, Serialize};

use super::csv_records::{Record as Row, Records};
use super::decoding::TextEncoding;
use super::domain_ids::DomainIds;
use super::finish::{self, Ending};
use super::input::{self, JobInput, MAX_LINE};
use super::linker::Linker;
use super::pair_columns::{PairColumns, Wanted};
use super::pair_linker::PairLinker;
use super::sanity_check::SanityCheck;
use super::skip_reason::{self, SkipReason};
use super::sorted_text;
use super::sorting::Sorting;
use super::sources::open_breach;
use super::tally::{Outcome, Tally};
use super::ulp_reader;
use super::walk;
use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::jobs::heartbeat::Heartbeat;
use crate::jobs::job::{self, Params, Running};
use crate::model::{Breach, loaded_address, website};
use crate::store::accounts;

/// Number of pairs per SQLite transaction for each MiB of `LOAD_MEMORY_MB`. A pair takes as long as
/// several accounts.
const PER_MIB: usize = 512;

/// Number of rows and bytes to sample when columns have to be inferred.
const SAMPLE_ROWS: usize = 1_000;
const SAMPLE_BYTES: usize = 1 << 20;

/// File format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// CSV or one JSON object per line, depending on the first character.
    #[default]
    Auto,
    /// Lines such as `https://shop.example/login:address:secret`.
    Ulp,
}

/// Load options.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct StealerLogsOptions {
    /// Breach name. The breach must be a stealer log.
    pub breach: String,
    /// File, or `-` for standard input.
    pub file: PathBuf,
    /// File format.
    pub format: LogFormat,
    /// Address column of a CSV file, by name or number.
    pub email_column: Option<String>,
    pub website_column: Option<String>,
    /// CSV delimiter.
    pub delimiter: Option<String>,
    /// File encoding.
    pub encoding: TextEncoding,
    /// Skip the sanity check of the first rows.
    pub unchecked: bool,
    /// Drop addresses whose only website in the file is their own email domain.
    pub drop_self: bool,
    /// Don't change the published count.
    pub keep_count: bool,
    /// Activate the breach when the load is done.
    pub activate: bool,
    /// Don't send notices about the new links.
    pub no_notify: bool,
}

#[derive(Deserialize)]
struct Object {
    email: String,
    website: String,
}

/// Loads pairs of address and website.
pub fn load_stealer_logs(
    context: &JobContext,
    options: &StealerLogsOptions,
) -> Result<Outcome, JobError> {
    load(context, options, None)
}

/// Loads pairs. If `resumed` is set, resumes that job.
pub(super) fn load(
    context: &JobContext,
    options: &StealerLogsOptions,
    resumed: Option<i64>,
) -> Result<Outcome, JobError> {
    let options = &StealerLogsOptions { file: input::absolute(&options.file)?, ..options.clone() };
    let breach = target(context, options)?;
    let other = StealerLogsOptions { no_notify: !options.no_notify, ..options.clone() };
    let params = Params::of_load(options, &other)?.resuming(resumed);
    let running =
        job::begin(context, "stealer-logs", std::slice::from_ref(&options.file), &params)?;
    job::noted(context, running.id, |heartbeat| run(context, options, &breach, &running, heartbeat))
}

/// Looks up the breach to load into.
pub(super) fn target(
    context: &JobContext,
    options: &StealerLogsOptions,
) -> Result<Breach, JobError> {
    let breach = context.pools.read_blocking(|db| open_breach(db, &options.breach))?;
    if !breach.flags.stealer_log {
        return Err(JobError::Rejected(format!("{} is not a stealer log", breach.name)));
    }
    Ok(breach)
}

fn run(
    context: &JobContext,
    options: &StealerLogsOptions,
    breach: &Breach,
    running: &Running,
    heartbeat: &Heartbeat,
) -> Result<Outcome, JobError> {
    let (merge, tally) =
        job::sorted(context, running.id, |tally| sort(context, options, Some(heartbeat), tally))?;
    let placement = context.read(|db| Ok(accounts::placement_in_table(db)?))?;
    let mut linker = PairLinker {
        linker: Linker::new(context, running.id, std::slice::from_ref(breach))
            .placed(placement)
            .suppress_notices(options.no_notify),
        websites: DomainIds::default(),
        breach: breach.id,
        drop_self: options.drop_self,
    };
    let StealerLogsOptions { keep_count, activate, .. } = *options;
    let ending = Ending { command: "stealer-logs load", keep_count, activate };
    let linked = walk::walk(context, running, merge, &tally, PER_MIB, &mut linker)
        .and_then(|()| finish::finish(context, std::slice::from_ref(breach), running.id, ending));
    let added = job::added_by_any(context, running.id, linked)?;
    Ok(Outcome::new(running.id, added, tally).without_notices(options.no_notify))
}

/// Reads and sorts the pairs in a file.
pub(super) fn sort(
    context: &JobContext,
    options: &StealerLogsOptions,
    heartbeat: Option<&Heartbeat>,
    tally: &mut Tally,
) -> Result<Sorted, JobError> {
    let check = SanityCheck::of_pairs(options.unchecked, job::sorting_budget(context));
    let mut sorting = Sorting::new(context, check, tally);
    let (input, mut job_input) = JobInput::open(heartbeat, &options.file, options.encoding)?;
    let mut text = String::new();
    let read = read(input, options, &mut |line, row| {
        match row.and_then(|(email, site)| parsed(email, site)) {
            Ok((address, site)) => {
                sorted_text::write_with(&mut text, &address, site.as_str());
                sorting.accept(&address, &text)?;
            }
            Err(reason) => sorting.skip(line, reason),
        }
        sorting.end_row(&mut job_input)
    });
    sorting.end_file(read, &options.file, job_input)?;
    sorting.finish()
}

fn parsed(email: &str, site: &str) -> Result<(EmailAddress, DomainName), SkipReason> {
    let address = loaded_address::parse(skip_reason::present(email)?);
    let address = address.map_err(|_| SkipReason::Address)?;
    Ok((address, website::host(site).ok_or(SkipReason::Website)?))
}

type Each<'e> = &'e mut dyn FnMut(u64, Result<(&str, &str), SkipReason>) -> io::Result<()>;

/// Reads lines of URL, login and secret, or else CSV or one JSON object per line, depending on the
/// first character that isn't whitespace.
pub fn read(input: impl Read, options: &StealerLogsOptions, each: Each<'_>) -> io::Result<()> {
    let mut input = BufReader::with_capacity(1 << 20, input);
    if options.format == LogFormat::Ulp {
        return ulp_reader::read(input, options.delimiter.as_deref(), each);
    }
    let start = start(&mut input)?;
    let is_json = start.last() == Some(&b'{');
    let input = Cursor::new(start).chain(input);
    if is_json { read_json(input, each) } else { read_csv(input, options, each) }
}

/// Reads up to the first character that isn't whitespace. This also works with a pipe that delivers
/// one byte at a time.
fn start(input: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    for byte in input.bytes().take(MAX_LINE) {
        start.push(byte?);
        let is_mark = b"\xEF\xBB\xBF".starts_with(&start);
        if !is_mark && !start.last().is_some_and(u8::is_ascii_whitespace) {
            break;
        }
    }
    Ok(start)
}

fn read_json(input: impl BufRead, each: Each<'_>) -> io::Result<()> {
    let mut lines = BoundedLines::new(input, MAX_LINE);
    while let Some((number, line)) = lines.next_line()? {
        match line {
            Line::TooLong { .. } => each(number, Err(SkipReason::TooLong))?,
            Line::Bytes(bytes) if bytes.trim_ascii().is_empty() => {}
            Line::Bytes(bytes) => match serde_json::from_slice::<Object>(bytes) {
                Ok(object) => each(number, Ok((&object.email, &object.website)))?,
                Err(_) => each(number, Err(SkipReason::Json))?,
            },
        }
    }
    Ok(())
}

/// Reads CSV. The columns are determined by the header or the operator, otherwise they're inferred
/// from the first rows.
fn read_csv(input: impl BufRead, options: &StealerLogsOptions, each: Each<'_>) -> io::Result<()> {
    let mut records = Records::new(input, options.delimiter.as_deref());
    let wanted = Wanted {
        email: options.email_column.as_deref(),
        website: options.website_column.as_deref(),
    };
    let (mut columns, mut sample) = (None, Sample::default());
    while let Some((line, record)) = records.next_record(|line, reason| each(line, Err(reason)))? {
        if let Some(columns) = &columns {
            each(line, PairColumns::pair(columns, record))?;
        } else if sample.rows.is_empty()
            && let Some((found, is_header)) = PairColumns::named(record, wanted)?
        {
            if !is_header {
                each(line, found.pair(record))?;
            }
            columns = Some(found);
        } else if sample.add(line, record) {
            columns = Some(sample.finish(wanted, each)?);
        }
    }
    if columns.is_none() && !sample.rows.is_empty() {
        sample.finish(wanted, each)?;
    }
    Ok(())
}

/// First rows of a file without a header.
#[derive(Default)]
struct Sample {
    lines: Vec<u64>,
    rows: Vec<Row>,
    bytes: usize,
}

impl Sample {
    /// Adds a row. Returns `true` once there are enough rows.
    fn add(&mut self, line: u64, row: &Row) -> bool {
        self.lines.push(line);
        self.rows.push(row.clone());
        self.bytes += row.iter().map(<[u8]>::len).sum::<usize>();
        self.rows.len() >= SAMPLE_ROWS || self.bytes >= SAMPLE_BYTES
    }

    /// Infers the columns and passes the sampled rows on.
    fn finish(&mut self, wanted: Wanted<'_>, each: Each<'_>) -> io::Result<PairColumns> {
        let columns = PairColumns::by_cells(&self.rows, wanted)?;
        for (line, row) in self.lines.drain(..).zip(self.rows.drain(..)) {
            each(line, columns.pair(&row))?;
        }
        Ok(columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns one byte at a time, like a slow pipe.
    struct Trickle<'a>(&'a [u8]);

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let one = buffer.len().min(1);
            self.0.read(&mut buffer[..one])
        }
    }

    /// Reads a file and returns its pairs, each with a space between address and website.
    fn pairs(input: impl Read) -> Vec<(u64, Result<String, SkipReason>)> {
        pairs_with(input, &StealerLogsOptions::default())
    }

    fn pairs_with(
        input: impl Read,
        options: &StealerLogsOptions,
    ) -> Vec<(u64, Result<String, SkipReason>)> {
        let mut found = Vec::new();
        let mut note = |line, row: Result<(&str, &str), SkipReason>| {
            found.push((line, row.map(|(email, site)| format!("{email} {site}"))));
            Ok(())
        };
        read(input, options, &mut note).unwrap();
        found
    }

    #[test]
    fn line_in_reverse_order_does_not_turn_its_password_into_an_address() {
        let line = "a@b.example:x@word.example:shop.example/login\n";
        let options = StealerLogsOptions { format: LogFormat::Ulp, ..Default::default() };
        let mut found = Vec::new();
        let mut note = |_, row: Result<(&str, &str), SkipReason>| {
            found.push(row.and_then(|(email, site)| parsed(email, site)).err());
            Ok(())
        };
        read(line.as_bytes(), &options, &mut note).unwrap();
        assert_eq!(found, [Some(SkipReason::Website)]);
    }

    #[test]
    fn rows_shifted_by_a_delimiter_in_a_password_are_skipped() {
        for text in [
            "email,password,url\na@b.example,x,word.example,c.example\na@b.example,x,c.example\n",
            "url,password,email\nc.example,x,y@word.example,a@b.example\nc.example,x,a@b.example\n",
        ] {
            let expected =
                [(2, Err(SkipReason::Column)), (3, Ok("a@b.example c.example".to_owned()))];
            assert_eq!(pairs(text.as_bytes()), expected, "{text}");
        }
        // Passwords after both columns may contain delimiters.
        let last = pairs(&b"url,email,password\nc.example,a@b.example,x,y\n"[..]);
        assert_eq!(last, [(2, Ok("a@b.example c.example".to_owned()))]);
        // Without a header, the first row has the right number of cells.
        let text = b"a@b.example,x,c.example\na@b.example,x,word.example,c.example\n";
        let options =
            StealerLogsOptions { website_column: Some("3".to_owned()), ..Default::default() };
        let expected = [(1, Ok("a@b.example c.example".to_owned())), (2, Err(SkipReason::Column))];
        assert_eq!(pairs_with(&text[..], &options), expected);
    }

    #[test]
    fn one_of_several_columns_with_the_same_title_is_chosen_by_its_number() {
        let text = b"url,email,url\nc.example,a@b.example,d.example\n";
        let chosen = |website: Option<&str>| StealerLogsOptions {
            website_column: website.map(str::to_owned),
            ..Default::default()
        };
        for website in [None, Some("URL")] {
            let refused = read(&text[..], &chosen(website), &mut |_, _| Ok(())).unwrap_err();
            let hint = "columns 1 and 3 of the CSV file have the same title; its first row has 3 \
                        columns. --website-column 1 reads the first of them.";
            assert!(refused.to_string().starts_with(hint), "{refused}");
        }
        let expected = [(2, Ok("a@b.example d.example".to_owned()))];
        assert_eq!(pairs_with(&text[..], &chosen(Some("3"))), expected);
    }

    #[test]
    fn json_after_blanks_is_recognised_in_slow_input() {
        let text = b"\xEF\xBB\xBF \n {\"email\":\"a@b.example\",\"website\":\"c.example\"}\n";
        for input in [&mut Trickle(text) as &mut dyn Read, &mut &text[..]] {
            assert_eq!(pairs(input), [(2, Ok("a@b.example c.example".to_owned()))]);
        }
    }
}
