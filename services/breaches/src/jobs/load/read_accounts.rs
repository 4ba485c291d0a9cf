//! Reads and sorts the addresses in a load's files.

use batch::Sorted;

use super::address_reader::{self, Format};
use super::decoding::TextEncoding;
use super::input::JobInput;
use super::sanity_check::SanityCheck;
use super::skip_reason::SkipReason;
use super::sorted_text;
use super::sorting::Sorting;
use super::sources::Sources;
use super::tally::Tally;
use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::jobs::heartbeat::Heartbeat;
use crate::jobs::job;
use crate::model::loaded_address;

/// Returns how to read the files.
#[derive(Clone, Debug)]
pub struct Reading<'a> {
    /// File format.
    pub format: &'a Format,
    /// Separates cells, or ends an address in a combo list.
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
    let budget = job::sorting_budget(context);
    let check = match reading.format {
        Format::Combo => SanityCheck::of_combo(reading.unchecked, budget),
        _ => SanityCheck::new(reading.unchecked, budget),
    };
    let mut sorting = Sorting::new(context, check, tally);
    let (several, mut text) = (sources.breaches.len() > 1, String::new());
    for (path, place) in &sources.files {
        sorting.begin_file(path);
        let (input, mut job_input) = JobInput::open(heartbeat, path, reading.encoding)?;
        let Reading { format, delimiter, .. } = *reading;
        let place = place.to_string();
        let read = address_reader::read(input, format, delimiter, &mut |line, found| {
            let found =
                found.and_then(|text| loaded_address::parse(text).map_err(|_| SkipReason::Address));
            match found {
                Ok(address) if several => {
                    sorted_text::write_with(&mut text, &address, &place);
                    sorting.accept(&address, &text)?;
                }
                Ok(address) => sorting.accept(&address, &sorted_text::of(&address))?,
                Err(reason) => sorting.skip(line, reason),
            }
            sorting.end_row(&mut job_input)
        });
        let read = read.map(|columns| sorting.note_columns(columns));
        sorting.end_file(read, path, job_input)?;
    }
    sorting.finish()
}
