//! Reads and sorts the addresses in a load's files.

use std::io;

use batch::{Sorted, Sorter};

use super::address_reader::{self, Format};
use super::decoding::TextEncoding;
use super::input::JobInput;
use super::sanity_check::SanityCheck;
use super::skip_reason::SkipReason;
use super::sorted_text;
use super::sources::Sources;
use super::tally::Tally;
use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::jobs::heartbeat::Heartbeat;
use crate::jobs::job;
use crate::model::{AccountKey, loaded_address};

/// How to read the files.
#[derive(Clone, Debug)]
pub struct Reading<'a> {
    /// File format.
    pub format: &'a Format,
    /// Separates cells or ends an address.
    pub delimiter: Option<&'a str>,
    /// File encoding.
    pub encoding: TextEncoding,
    /// Skip the sanity check of the first rows.
    pub unchecked: bool,
}

/// Reads and sorts the addresses. If there is more than one breach, each address is followed by the
/// index of its breach.
pub fn sort(
    context: &JobContext,
    sources: &Sources,
    reading: &Reading<'_>,
    heartbeat: Option<&Heartbeat>,
    tally: &mut Tally,
) -> Result<Sorted, JobError> {
    let folder = context.settings.temporary_folder();
    let spilled = || JobError::file(format!("a temporary file in {}", folder.display()));
    let budget = job::sorting_budget(context);
    let mut sorter = Sorter::new(folder.clone(), budget);
    let mut check = SanityCheck::new(reading.unchecked, budget);
    let (several, mut text, mut no_room) = (sources.breaches.len() > 1, String::new(), false);
    for (path, place) in &sources.files {
        let (input, mut job_input) = JobInput::open(heartbeat, path, reading.encoding)?;
        let Reading { format, delimiter, .. } = *reading;
        let (place, before) = (place.to_string(), tally.counts);
        address_reader::read(input, format, delimiter, &mut |line, found| {
            let found =
                found.and_then(|text| loaded_address::parse(text).map_err(|_| SkipReason::Address));
            match found {
                Ok(address) => {
                    let key = AccountKey::of(&address.sha1());
                    let pushed = if several {
                        sorted_text::write_with(&mut text, &address, &place);
                        sorter.push(key.0, text.as_bytes())
                    } else {
                        sorter.push(key.0, sorted_text::of(&address).as_bytes())
                    };
                    pushed.inspect_err(|_| no_room = true)?;
                    check.see(&address);
                    tally.accept();
                }
                Err(reason) => tally.skip(line, reason),
            }
            job_input.report_sometimes(tally.counts);
            check.judge(tally).map_err(io::Error::other)
        })
        .map_err(|error| match no_room {
            true => spilled()(error),
            false => JobError::file(path.display().to_string())(error),
        })?;
        job_input.finish()?;
        check.judge_file(path, before, tally)?;
    }
    check.judge_whole(tally)?;
    sorter.finish().map_err(spilled())
}
