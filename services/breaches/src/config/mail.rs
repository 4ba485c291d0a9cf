//! Mail settings.

use std::path::{Path, PathBuf};

/// How mails are sent.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Mail")]
pub struct MailSettings {
    /// Mail server: smtps://user:word@host or smtp://host:587?tls=required; without it, mails are
    /// written to MAIL_DIR
    #[arg(long, env, global = true, hide_env_values = true, value_name = "URL")]
    pub smtp_url: Option<String>,
    /// Sender of mails; without it, no-reply at the host of PUBLIC_URL
    #[arg(long, env, global = true, value_name = "ADDRESS")]
    pub mail_from: Option<String>,
    /// Folder of mails without a mail server [default: DATA_DIR/mail]
    #[arg(long, env, global = true, value_name = "FOLDER")]
    pub mail_dir: Option<PathBuf>,
}

impl MailSettings {
    /// The sender. `public_url` is the URL of the service.
    pub fn sender(&self, public_url: &str) -> String {
        let host =
            url::Url::parse(public_url).ok().and_then(|url| url.host_str().map(str::to_owned));
        let default = || format!("no-reply@{}", host.as_deref().unwrap_or("localhost"));
        self.mail_from.clone().unwrap_or_else(default)
    }

    /// The folder of mails.
    pub fn folder(&self, data_dir: &Path) -> PathBuf {
        self.mail_dir.clone().unwrap_or_else(|| data_dir.join("mail"))
    }
}
