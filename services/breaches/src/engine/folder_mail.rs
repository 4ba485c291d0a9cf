//! Mails as files, for development.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use lettre::message::Mailbox;

use super::asked::Asked;
use super::mail::{Mail, MailError, Mailer, message};

/// Writes mails into a folder, a file each, in the order of their names.
pub struct FolderMailer {
    from: Mailbox,
    folder: PathBuf,
    written: AtomicU64,
}

impl FolderMailer {
    /// A mailer for a folder, which is made when the first mail is written.
    ///
    /// # Errors
    /// When the sender is invalid.
    pub fn new(folder: &Path, from: &str) -> Result<Self, MailError> {
        let from = from.parse().map_err(MailError::permanent)?;
        Ok(Self { from, folder: folder.to_owned(), written: AtomicU64::new(0) })
    }
}

impl Mailer for FolderMailer {
    fn send(&self, mail: Mail) -> Asked<'_, (), MailError> {
        Box::pin(async move {
            let bytes = message(&self.from, mail)?.formatted();
            let number = self.written.fetch_add(1, Ordering::Relaxed);
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let name = format!("{:013}-{}-{number:06}.eml", now.as_millis(), std::process::id());
            let (folder, path) = (self.folder.clone(), self.folder.join(name));
            let write = move || {
                // Links of mails are secrets.
                DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
                let mut new = OpenOptions::new();
                let mut file = new.write(true).create_new(true).mode(0o600).open(path)?;
                file.write_all(&bytes)
            };
            let written = tokio::task::spawn_blocking(write).await;
            written.map_err(MailError::temporary)?.map_err(MailError::temporary)
        })
    }
}
