//! The reader of whole files: a corpus with some bytes overwritten, or cut, is refused or answers.
//!
//! An input is a list of edits: place in the file (4 bytes), length (1 byte), new bytes.
#![no_main]

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::LazyLock;

use domain::HashPrefix;
use libfuzzer_sys::fuzz_target;
use passwords::model::{Bucket, Entry, Kind};
use passwords::store::Corpus;
use passwords::store::folder::KindFolder;
use passwords::store::writer::{CorpusWriter, Encoded};

/// Buckets that hold something; the index in front of them is most of the file.
const FILLED: u32 = 40;

struct Sound {
    path: PathBuf,
    bytes: Vec<u8>,
    file: File,
    _folder: tempfile::TempDir,
}

static SOUND: LazyLock<Sound> = LazyLock::new(|| {
    let data = tempfile::tempdir().expect("a folder");
    let folder = KindFolder::new(data.path(), Kind::Sha1);
    let lock = folder.lock().expect("nobody else writes");
    let mut writer = CorpusWriter::create(&folder, &lock).expect("a new file");
    for prefix in 0..FILLED {
        let entry = |at: u8| {
            let mut hash = [at; 20];
            (hash[0], hash[1]) = ((prefix >> 12) as u8, (prefix >> 4) as u8);
            hash[2] = (prefix << 4) as u8 | at >> 4;
            Entry { hash, count: 1 + u32::from(at) * 999 }
        };
        let entries: Vec<Entry> = (0..=prefix as u8).map(entry).collect();
        writer.append(&Encoded::of(Kind::Sha1, &entries).expect("in order")).expect("written");
    }
    let (path, _) = writer.finish("", 0).expect("a corpus");
    let bytes = fs::read(&path).expect("the corpus");
    let file = OpenOptions::new().write(true).open(&path).expect("the corpus");
    Sound { path, bytes, file, _folder: data }
});

fuzz_target!(|input: &[u8]| {
    let sound = &*SOUND;
    let length = sound.bytes.len() as u64;
    let (mut rest, mut edits) = (input, Vec::new());
    while let [a, b, c, d, n, bytes @ ..] = rest {
        let place = u64::from(u32::from_le_bytes([*a, *b, *c, *d])) % length;
        let (new, after) = bytes.split_at(usize::from(*n).min(bytes.len()));
        if new.is_empty() {
            sound.file.set_len(place).expect("cut");
        } else {
            sound.file.write_all_at(new, place).expect("overwritten");
        }
        edits.push((place, new.len()));
        rest = after;
    }
    for limit in [0, u64::MAX] {
        let Ok(corpus) = Corpus::open(&sound.path, limit) else { continue };
        let _ = corpus.spot_check();
        let mut buffer = Vec::new();
        for prefix in (0..FILLED).filter_map(HashPrefix::from_value) {
            let Ok(bytes) = corpus.bytes(prefix, &mut buffer) else { continue };
            let _ = Bucket::parse(corpus.kind(), bytes).map(|bucket| bucket.text());
            let _ = corpus.sound_bytes(prefix, &mut Vec::new());
        }
    }
    sound.file.set_len(length).expect("whole again");
    for (place, edited) in edits {
        let (from, to) = if edited == 0 { (place, length) } else { (place, place + edited as u64) };
        let old = &sound.bytes[from as usize..to.min(length) as usize];
        sound.file.write_all_at(old, from).expect("as it was");
    }
});
