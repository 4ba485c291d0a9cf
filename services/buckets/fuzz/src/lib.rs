//! Shared code of the fuzz targets for listings.

use std::io::Read;
use std::path::Path;

use buckets::jobs::{Bad, Defaults, Format, Item, JobError, Sink, Skipped, Taken, read};
use buckets::model::Attribute;

/// Results of a reader in order.
#[derive(Debug, Default, PartialEq)]
pub struct Heard {
    events: Vec<String>,
    last: u64,
    broken: bool,
}

impl Heard {
    fn note(&mut self, event: String) -> Result<(), JobError> {
        assert!(!self.broken, "no event follows a break");
        self.events.push(event);
        Ok(())
    }

    fn ascend(&mut self, position: u64) {
        // A table with CR line endings is all on one line.
        assert!(position >= self.last, "positions ascend");
        self.last = position;
    }
}

impl Sink for Heard {
    fn file(&mut self, item: &Item<'_>) -> Result<Taken, JobError> {
        assert!(Attribute::ALL.iter().all(|attribute| item.attributes[*attribute] >= 0));
        self.ascend(item.position);
        self.note(format!("{item:?}"))?;
        Ok(Ok(()))
    }

    fn bad(&mut self, bad: Bad) -> Result<(), JobError> {
        self.ascend(bad.position);
        self.note(format!("{bad:?}"))
    }

    fn skipped(&mut self, what: Skipped) -> Result<(), JobError> {
        self.note(format!("{what:?}"))
    }

    fn page(&mut self, bucket: &str, kind: Option<&str>, truncated: bool) -> Result<(), JobError> {
        self.note(format!("page {bucket} {kind:?} {truncated}"))
    }

    fn broken(&mut self, reason: String) -> Result<(), JobError> {
        self.note(reason)?;
        self.broken = true;
        Ok(())
    }
}

/// Delivers single bytes, like a slow pipe.
struct Trickle<'a>(&'a [u8]);

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.0.len().min(buffer.len()).min(1);
        let (now, later) = self.0.split_at(count);
        buffer[..count].copy_from_slice(now);
        self.0 = later;
        Ok(count)
    }
}

/// Reads a source in one piece and byte by byte. Both results must match.
pub fn listing(bytes: &[u8], format: Option<Format>) {
    let bucket = (format == Some(Format::S3)).then(|| "n.s3.amazonaws.com".to_owned());
    let defaults = Defaults { bucket, format, ..Defaults::default() };
    let name = Path::new("listing");
    let (mut whole, mut slow) = (Heard::default(), Heard::default());
    let first = read(name, bytes, &defaults, &mut whole).map_err(|error| error.to_string());
    let second =
        read(name, Trickle(bytes), &defaults, &mut slow).map_err(|error| error.to_string());
    // A decoder with more input may detect damage before it returns the preceding data.
    let packed = [&[0x1f, 0x8b][..], &[0x28, 0xb5, 0x2f, 0xfd]];
    if packed.iter().any(|magic| bytes.starts_with(magic)) {
        return;
    }
    assert_eq!(first, second);
    assert_eq!(whole, slow);
}
