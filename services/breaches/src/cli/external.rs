//! Sets up the email, DNS and HTTP clients from the settings.

use std::io;
use std::path::Path;
use std::sync::Arc;

use outbound::{Dns, Names, Reach, WebhookSender, names_public_host, web_url};
use shell::{SettingError, ShellSettings, require_creatable};

use crate::config::{Settings, VerificationSettings};
use crate::external::{
    DnsRecords, External, FolderMailer, MailError, Mailer, SiteFetcher, SmtpMailer,
};
use crate::model::webhook_url;

/// User agent of outgoing requests.
const USER_AGENT: &str = concat!("breaches/", env!("CARGO_PKG_VERSION"));

/// Creates the clients for external servers.
///
/// # Errors
/// Fails if a setting is invalid.
pub fn external(shell: &ShellSettings, settings: &Settings) -> anyhow::Result<External> {
    require_folders(settings)?;
    let public_url = shell.base_url();
    let verification = &settings.verification;
    let dns = match verification.dns_resolver {
        Some(server) => Dns::at(server)?,
        None => Dns::system()?,
    };
    let names = match verification.dns_resolver {
        Some(_) => Names::Dns(dns.clone()),
        None => Names::System,
    };
    let reach = reach(verification).with_names(names);
    Ok(External {
        mailer: mailer(shell, settings, &public_url)?,
        dns: Arc::new(DnsRecords(dns)),
        websites: Arc::new(SiteFetcher::new(reach.clone())?),
        webhooks: WebhookSender::new(reach, USER_AGENT)?,
        public_url,
    })
}

/// `EROFS`: the folder is on a read-only file system.
const READ_ONLY: i32 = 30;

/// Checks the folders that the operator has chosen. Without a check, the first email or load would
/// fail. `MAIL_DIR` is created when needed.
fn require_folders(settings: &Settings) -> anyhow::Result<()> {
    let Settings { mail, load_tmp, .. } = settings;
    let checked = |name: &str, folder: &Path, found: io::Result<()>| match found {
        // A failing disk can make its file system read-only. Searches must still work.
        Err(error) if error.raw_os_error() == Some(READ_ONLY) => Ok(()),
        found => found.map_err(|error| {
            let folder = folder.display();
            SettingError(format!("{name}: the folder {folder} is not writable: {error}"))
        }),
    };
    if let Some(folder) = mail.mail_dir.as_deref().filter(|_| mail.smtp_url.is_none()) {
        checked("MAIL_DIR", folder, require_creatable(&folder.join("x.eml")))?;
    }
    if let Some(folder) = load_tmp {
        let found = folder.metadata().and_then(|_| require_creatable(&folder.join("x")));
        checked("LOAD_TMP", folder, found)?;
    }
    Ok(())
}

/// Returns whether a text is an HTTP or HTTPS URL without credentials or control characters.
pub fn is_web(url: &str) -> bool {
    webhook_url::is_plain(url) && web_url(url).is_some()
}

/// Returns whether a webhook URL is allowed. This only examines the URL and doesn't resolve its
/// host.
pub fn may_call(settings: &Settings, url: &str) -> bool {
    let reach = reach(&settings.verification);
    webhook_url::is_plain(url) && web_url(url).is_some_and(|url| reach.may_name(&url))
}

fn reach(settings: &VerificationSettings) -> Reach {
    if settings.verify_allow_private { Reach::anywhere() } else { guarded() }
}

/// Returns limits to the public internet and standard web ports.
fn guarded() -> Reach {
    let nameable = |url: &url::Url| {
        names_public_host(url) && matches!(url.port_or_known_default(), Some(80 | 443))
    };
    Reach { nameable, ..Reach::public() }
}

fn mailer(
    shell: &ShellSettings,
    settings: &Settings,
    public_url: &str,
) -> anyhow::Result<Arc<dyn Mailer>> {
    let from = settings.mail.sender(public_url);
    let wrong = |error: MailError| SettingError(error.to_string());
    match &settings.mail.smtp_url {
        Some(url) => Ok(Arc::new(SmtpMailer::new(url, &from).map_err(wrong)?)),
        None => {
            let folder = settings.mail.folder(&shell.data_dir);
            Ok(Arc::new(FolderMailer::new(&folder, &from).map_err(wrong)?))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn webhook_url_with_control_characters_is_refused() {
        let settings = Settings::for_tests();
        assert!(may_call(&settings, "https://hooks.example/x"));
        for url in [
            "https://hooks.example/\r\nX: y",
            "https://hooks.example/\tx",
            "https://hooks\n.example/",
            "\nhttps://hooks.example/x",
        ] {
            assert!(!may_call(&settings, url), "{url:?}");
        }
    }
}
