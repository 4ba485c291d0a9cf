//! The media folder, where images are stored.

use std::fs::{self, Metadata, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use imagesize::ImageType;
use sha2::{Digest, Sha256};

use crate::model::image::{Format, ImageFile};
use crate::model::image_metadata;

/// A folder of image files. Clones refer to the same folder.
///
/// File names are hashes of the content. Identical images share a file, storing an image twice is
/// harmless, and a file's content never changes.
#[derive(Clone, Debug)]
pub struct Media {
    folder: Arc<PathBuf>,
}

/// An image storage error.
#[derive(Debug, thiserror::Error)]
pub enum MediaError {
    #[error("not an image in a known format")]
    UnknownFormat,
    #[error("more than 100 million pixels")]
    TooManyPixels,
    #[error("the media folder cannot be written: {0}")]
    Folder(#[from] io::Error),
}

/// Grace period in seconds during which a stored image might not be recorded in the database yet.
const STORING: u64 = 600;

/// Maximum width and height in pixels. JPEG and GIF have the same limit.
const LONGEST_SIDE: usize = 65_535;

/// Maximum number of pixels. A browser needs four bytes of memory per pixel.
const MAX_PIXELS: usize = 100_000_000;

impl Media {
    /// Opens a folder. It is created when the first file is stored.
    pub fn new(folder: PathBuf) -> Media {
        Media { folder: Arc::new(folder) }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Creates the folder if it doesn't exist.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be created.
    pub fn make_folder(&self) -> io::Result<()> {
        fs::create_dir_all(self.folder.as_path())
    }

    /// Strips an image's metadata and stores it. Detects the format from the leading bytes, not
    /// from the file name.
    pub fn store(&self, bytes: &[u8]) -> Result<ImageFile, MediaError> {
        let format = format(bytes).ok_or(MediaError::UnknownFormat)?;
        let image = image_metadata::stripped(bytes, format).ok_or(MediaError::UnknownFormat)?;
        let bytes = &image.bytes;
        let size = imagesize::blob_size(bytes).map_err(|_| MediaError::UnknownFormat)?;
        let number = |length: usize| i64::try_from(length).map_err(|_| MediaError::UnknownFormat);
        let sides = [size.width, size.height];
        if !sides.iter().all(|side| (1..=LONGEST_SIDE).contains(side)) {
            return Err(MediaError::UnknownFormat);
        }
        if size.width.saturating_mul(size.height) > MAX_PIXELS {
            return Err(MediaError::TooManyPixels);
        }
        let (width, height) = match image.is_sideways() {
            true => (size.height, size.width),
            false => (size.width, size.height),
        };
        let file = ImageFile {
            name: file_name(bytes, format),
            format,
            width: number(width)?,
            height: number(height)?,
            filesize: number(bytes.len())?,
        };
        self.write(&file.name, bytes)?;
        Ok(file)
    }

    /// Stores a file from another media folder under the same name. Returns false if the content
    /// doesn't match the name.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be written.
    pub fn store_again(&self, file: &str, bytes: &[u8]) -> io::Result<bool> {
        let fits = format(bytes).is_some_and(|format| file_name(bytes, format) == file);
        if fits {
            self.write(file, bytes)?;
        }
        Ok(fits)
    }

    pub fn read(&self, file: &str) -> io::Result<Vec<u8>> {
        fs::read(self.path(file)?)
    }

    /// Returns whether the file's content matches its name.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn is_sound(&self, file: &str) -> io::Result<bool> {
        let bytes = self.read(file)?;
        Ok(format(&bytes).is_some_and(|format| file_name(&bytes, format) == file))
    }

    /// Calls `use_it` with the name of every file and whether it was stored only recently. A
    /// missing folder counts as empty.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be read.
    pub fn each_file(&self, now: i64, mut use_it: impl FnMut(&str, bool)) -> io::Result<()> {
        let entries = match fs::read_dir(self.folder()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let about = match entry.metadata() {
                // The file has been removed in the meantime.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                about => about?,
            };
            if about.is_file() {
                use_it(&entry.file_name().to_string_lossy(), is_recent(&about, now)?);
            }
        }
        Ok(())
    }

    /// Removes the file of an erased image. Returns false if the file was last stored less than
    /// [`STORING`] ago, because a new image might use the file in a row that isn't visible yet.
    ///
    /// # Errors
    /// Returns an error if the file exists and cannot be removed.
    pub fn remove(&self, file: &str, now: i64) -> io::Result<bool> {
        let path = self.path(file)?;
        // [`touch`] locks files to prevent their removal at the same time.
        let stored = fs::File::open(&path).ok();
        let lock = stored.as_ref().map(fs::File::try_lock);
        if matches!(lock, Some(Err(TryLockError::WouldBlock))) {
            return Ok(false);
        }
        let removed = fs::metadata(&path).and_then(|about| match is_recent(&about, now)? {
            true => Ok(false),
            false => fs::remove_file(&path).map(|()| true),
        });
        match removed {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
            removed => removed,
        }
    }

    /// Returns a file's path. Rejects names that would escape the folder.
    fn path(&self, file: &str) -> io::Result<PathBuf> {
        let leaves = file.contains(['/', '\0']) || matches!(file, "" | "." | "..");
        match leaves {
            true => Err(io::Error::new(io::ErrorKind::InvalidInput, "is not a file name")),
            false => Ok(self.folder.join(file)),
        }
    }

    /// Writes a file atomically. If it already exists, updates its modification time to mark it as
    /// in use again.
    fn write(&self, file: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.path(file)?;
        if path.is_file() {
            let stored = match fs::File::open(&path) {
                // It has just been removed.
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                stored => Some(stored?),
            };
            if let Some(stored) = stored
                && touch(&stored)?
            {
                return Ok(());
            }
        }
        fs::create_dir_all(&*self.folder)?;
        batch::write_atomically(&path, bytes)
    }
}

/// Returns whether a string looks like the name of a stored file, i.e. 32 hex digits and the
/// extension of a known format.
pub fn is_file_name(text: &str) -> bool {
    let Some((digits, extension)) = text.split_once('.') else { return false };
    let is_hash =
        digits.len() == 32 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_hash && Format::ALL.iter().any(|format| format.extension() == extension)
}

/// Updates the modification time of a stored file, to mark it as in use again. Returns false if the
/// file has been removed since it was opened.
fn touch(stored: &fs::File) -> io::Result<bool> {
    // Without file system support for locks, [`Media::remove`] can still remove the file at the
    // same time.
    let _ = stored.lock_shared();
    if stored.metadata()?.nlink() == 0 {
        return Ok(false);
    }
    match stored.set_modified(SystemTime::now()) {
        // Files owned by another user can't be touched, but they can't be removed by this process
        // either.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(true),
        touched => touched.map(|()| true),
    }
}

/// Returns whether a file was stored less than [`STORING`] ago.
fn is_recent(about: &Metadata, now: i64) -> io::Result<bool> {
    Ok(seconds(about.modified()?).abs_diff(now) < STORING)
}

/// Converts a time to Unix seconds.
fn seconds(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |age| i64::try_from(age.as_secs()).unwrap_or(i64::MAX))
}

/// Derives the file name from the content.
fn file_name(bytes: &[u8], format: Format) -> String {
    let digest = Sha256::digest(bytes);
    let name: String = digest[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{name}.{}", format.extension())
}

fn format(bytes: &[u8]) -> Option<Format> {
    match imagesize::image_type(bytes).ok()? {
        ImageType::Jpeg => Some(Format::Jpeg),
        ImageType::Png => Some(Format::Png),
        ImageType::Gif => Some(Format::Gif),
        ImageType::Webp => Some(Format::Webp),
        #[allow(unreachable_patterns, reason = "further formats may be switched on elsewhere")]
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A 3 × 2 pixel GIF.
    const GIF: &[u8] = b"GIF89a\x03\0\x02\0\0\0\0\x2c\0\0\0\0\x03\0\x02\0\0\x02\x02ab\0;";

    #[test]
    fn equal_images_share_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let media = Media::new(folder.path().join("media"));
        let stored = media.store(GIF).unwrap();
        assert_eq!((stored.format, stored.width, stored.height), (Format::Gif, 3, 2));
        assert_eq!(media.store(GIF).unwrap(), stored);
        assert_eq!(media.read(&stored.name).unwrap(), GIF);
        assert_eq!(fs::read_dir(folder.path().join("media")).unwrap().count(), 1);
    }

    /// Stores an image and returns its file name and modification time.
    fn stored(media: &Media) -> (String, i64) {
        let file = media.store(GIF).unwrap().name;
        let about = fs::metadata(media.folder().join(&file)).unwrap();
        (file, seconds(about.modified().unwrap()))
    }

    #[test]
    fn file_is_not_removed_until_its_row_must_be_visible() {
        let folder = tempfile::tempdir().unwrap();
        let media = Media::new(folder.path().to_path_buf());
        let (file, at) = stored(&media);
        for later in [0, 1, 599] {
            assert!(!media.remove(&file, at + later).unwrap(), "{later}");
        }
        assert_eq!(media.read(&file).unwrap(), GIF);
        assert!(media.remove(&file, at + 600).unwrap());
        assert!(media.read(&file).is_err());
        // Removing a missing file succeeds.
        assert!(media.remove(&file, at).unwrap());
    }

    #[test]
    fn file_that_is_stored_again_is_not_removed_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let media = Media::new(folder.path().to_path_buf());
        let (file, at) = stored(&media);
        let path = media.folder().join(&file);
        let old = SystemTime::now() - std::time::Duration::from_secs(3600);
        fs::File::open(&path).unwrap().set_modified(old).unwrap();
        let again = fs::File::open(&path).unwrap();
        again.lock_shared().unwrap();
        assert!(!media.remove(&file, at).unwrap(), "while it is stored");
        assert!(touch(&again).unwrap());
        drop(again);
        assert!(!media.remove(&file, at).unwrap(), "afterwards");
        // If the removal comes first, the file must be written again.
        let opened = fs::File::open(&path).unwrap();
        assert!(media.remove(&file, at + 3600).unwrap());
        assert!(!touch(&opened).unwrap());
    }

    #[test]
    fn names_outside_of_the_folder_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let outside = folder.path().join("outside");
        fs::write(&outside, GIF).unwrap();
        let media = Media::new(folder.path().join("media"));
        let name = media.store(GIF).unwrap().name;
        assert!(is_file_name(&name));
        for file in [outside.to_str().unwrap(), "../outside", "..", ".", ""] {
            assert!(!is_file_name(file), "{file}");
            assert!(media.read(file).is_err(), "{file}");
            assert!(media.remove(file, i64::MAX).is_err(), "{file}");
            assert!(media.write(file, GIF).is_err(), "{file}");
        }
        assert!(outside.exists());
    }

    #[test]
    fn metadata_is_not_stored() {
        let folder = tempfile::tempdir().unwrap();
        let media = Media::new(folder.path().join("media"));
        let commented = [&GIF[..13], b"\x21\xfe\x03GPS\0", &GIF[13..]].concat();
        let stored = media.store(&commented).unwrap();
        assert_eq!(stored, media.store(GIF).unwrap());
        assert_eq!(media.read(&stored.name).unwrap(), GIF);
    }

    #[test]
    fn turned_image_has_the_size_in_which_it_is_shown() {
        let folder = tempfile::tempdir().unwrap();
        let media = Media::new(folder.path().join("media"));
        for (turn, width, height) in [(1, 7, 5), (3, 7, 5), (6, 5, 7), (8, 5, 7)] {
            let tiff = [
                &b"MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0"[..],
                &[turn, 0, 0, 0, 0, 0, 0],
            ]
            .concat();
            let jpeg = [
                &b"\xff\xd8\xff\xe1\0\x22Exif\0\0"[..],
                &tiff,
                b"\xff\xc0\0\x0b\x08\0\x05\0\x07\x01\x01\x11\0",
                b"\xff\xda\0\x08\x01\x01\0\0\x3f\0\x12\xff\xd9",
            ];
            let png = [
                &b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x07\0\0\0\x05\x08\x06\0\0\0crc!"[..],
                b"\0\0\0\x1aeXIf",
                &tiff,
                b"crc!\0\0\0\x04IDATdatacrc!\0\0\0\0IENDcrc!",
            ];
            let webp = [
                &b"RIFF\x44\0\0\0WEBPVP8X\x0a\0\0\0\x08\0\0\0\x06\0\0\x04\0\0"[..],
                b"EXIF\x1a\0\0\0",
                &tiff,
                b"VP8L\x04\0\0\0data",
            ];
            for parts in [jpeg, png, webp] {
                let stored = media.store(&parts.concat()).unwrap();
                let size = (stored.width, stored.height);
                assert_eq!(size, (width, height), "{:?} {turn}", stored.format);
            }
        }
    }

    #[test]
    fn image_with_more_pixels_than_browsers_can_show_is_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let media = Media::new(folder.path().to_path_buf());
        let png = |width: u32, height: u32| {
            let (width, height) = (width.to_be_bytes(), height.to_be_bytes());
            let start = [&b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"[..], &width, &height].concat();
            [&start[..], b"\x08\x06\0\0\0crc!\0\0\0\x04IDATdatacrc!\0\0\0\0IENDcrc!"].concat()
        };
        for (width, height) in [(10_000, 10_000), (1, 65_535)] {
            assert!(media.store(&png(width, height)).is_ok(), "{width} {height}");
        }
        for (width, height) in [(60_000, 60_000), (10_001, 10_000)] {
            let refused = media.store(&png(width, height));
            assert!(matches!(refused, Err(MediaError::TooManyPixels)), "{width} {height}");
        }
    }

    #[test]
    fn image_file_has_default_permissions() {
        let folder = tempfile::tempdir().unwrap();
        let stored = Media::new(folder.path().to_path_buf()).store(GIF).unwrap();
        fs::write(folder.path().join("other"), "x").unwrap();
        let mode =
            |name: &str| fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode(&stored.name), mode("other"));
    }

    #[test]
    fn data_in_another_format_is_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let media = Media::new(folder.path().join("media"));
        for bytes in [
            &b""[..],
            b"GIF89a",
            &GIF[..13],
            b"\xff\xd8\xff\xe1\0\x08GPS",
            b"<svg xmlns='http://www.w3.org/2000/svg'/>",
            b"BM......",
        ] {
            assert!(matches!(media.store(bytes), Err(MediaError::UnknownFormat)), "{bytes:?}");
        }
        assert!(!folder.path().join("media").exists());
    }
}
