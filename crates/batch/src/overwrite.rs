//! Keeps a command from writing to a file that it also reads.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

const STDIN: &str = "/dev/stdin";

/// Checks that a command doesn't write to any of the files that it reads.
///
/// Files are compared by device and inode, so links and different spellings of a path are detected.
/// The input `-` means standard input. Missing files, pipes and devices are always allowed.
///
/// # Errors
/// Returns an error if an output is also an input, or if any of the files isn't accessible.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let (list, link) = (folder.path().join("list"), folder.path().join("link"));
/// std::fs::write(&list, "a\n")?;
/// std::fs::hard_link(&list, &link)?;
/// assert!(batch::refuse_overwriting(&[&link], [&list]).is_err());
/// assert!(batch::refuse_overwriting(&[&folder.path().join("new")], [&list]).is_ok());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn refuse_overwriting<O: AsRef<Path>, I: AsRef<Path>>(
    outputs: &[O],
    inputs: impl IntoIterator<Item = I>,
) -> io::Result<()> {
    let mut written = Vec::new();
    for output in outputs {
        written.extend(identity(output.as_ref())?.map(|file| (file, output.as_ref())));
    }
    if written.is_empty() {
        return Ok(());
    }
    for input in inputs {
        let input = input.as_ref();
        let path = if input == Path::new("-") { Path::new(STDIN) } else { input };
        let Some(read) = identity(path)? else { continue };
        if let Some((_, output)) = written.iter().find(|(file, _)| *file == read) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message(output, input)));
        }
    }
    Ok(())
}

fn message(output: &Path, input: &Path) -> String {
    if output == input {
        return format!("{} cannot be both input and output", output.display());
    }
    let (output, input) = (output.display(), input.display());
    format!("{output} is the same file as {input}: it cannot be both input and output")
}

/// Returns the device and inode of a regular file, or `None` for anything else.
fn identity(path: &Path) -> io::Result<Option<(u64, u64)>> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => Ok(Some((found.dev(), found.ino()))),
        Ok(_) => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io::Error::new(error.kind(), format!("{}: {error}", path.display()))),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn input_file_is_refused_as_output_under_any_name() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("list"), "a").unwrap();
        fs::write(at("other"), "a").unwrap();
        fs::hard_link(at("list"), at("hard")).unwrap();
        symlink(at("list"), at("soft")).unwrap();
        symlink(at("nowhere"), at("dangling")).unwrap();
        let spelled = folder.path().join(".").join("list");
        for output in [at("list"), at("hard"), at("soft"), spelled] {
            let refused = refuse_overwriting(&[at("new"), output], [at("other"), at("list")]);
            let message = refused.unwrap_err().to_string();
            assert!(message.ends_with("cannot be both input and output"), "{message}");
        }
        for output in [at("other"), at("new"), at("dangling"), "/dev/null".into()] {
            refuse_overwriting(&[output], [at("list"), "/dev/null".into()]).unwrap();
        }
    }
}
