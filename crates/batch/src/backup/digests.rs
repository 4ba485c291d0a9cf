//! Digests of the files in a backup.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

/// The SHA-256 of each file, by its path in the backup.
pub(super) type Digests = BTreeMap<String, String>;

/// Number of bytes to read at once.
const CHUNK: usize = 1 << 20;

/// Adds the digests of the files in a part, which is either a single file or a folder.
pub(super) fn add_digests(folder: &Path, part: &str, digests: &mut Digests) -> io::Result<()> {
    let path = folder.join(part);
    if path.is_file() {
        digests.insert(part.to_owned(), digest_of(&path)?);
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        add_digests(folder, &format!("{part}/{name}"), digests)?;
    }
    Ok(())
}

/// Reads a file in chunks and returns its digest in hexadecimal.
fn digest_of(path: &Path) -> io::Result<String> {
    let (mut file, mut hash) = (File::open(path)?, Sha256::new());
    let mut chunk = vec![0; CHUNK];
    loop {
        match file.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => hash.update(&chunk[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(hash.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digest_of_a_file_is_its_sha_256() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("part/sub")).unwrap();
        fs::write(folder.path().join("part/sub/a"), "abc").unwrap();
        let mut digests = Digests::new();
        add_digests(folder.path(), "part", &mut digests).unwrap();
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(
            digests.into_iter().collect::<Vec<_>>(),
            [("part/sub/a".into(), expected.into())]
        );
    }
}
