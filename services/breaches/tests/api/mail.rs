//! Mails sent by the binary.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use breaches::{FolderMailer, Mail, Mailer, SmtpMailer};
use testkit::{Database, Program, SmtpPeer};

use crate::browser::hidden;

#[actix_web::test]
async fn binary_sends_mails_through_a_mail_server() {
    let peer = SmtpPeer::start();
    let program = Program::new(env!("CARGO_BIN_EXE_breaches"))
        .with_database()
        .setting("SMTP_URL", peer.url())
        .setting("MAIL_FROM", "service@example.org");
    let server = program.serve(&[]);
    let page = server.get("/sign-in").header("user-agent", "tests").send().await.unwrap();
    let cookie =
        page.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let csrf = hidden(&page.text().await.unwrap(), "csrf");
    for address in ["first@example.org", "second@example.org"] {
        let sent = reqwest::Client::new()
            .post(format!("http://{}/sign-in", server.http()))
            .header("user-agent", "tests")
            .header("cookie", &cookie)
            .header("content-type", "application/x-www-form-urlencoded")
            .body(format!("csrf={csrf}&email={address}"))
            .send()
            .await
            .unwrap();
        assert_eq!(sent.status(), 200);
    }
    let recipients: Vec<_> = peer.mails().into_iter().flat_map(|mail| mail.to).collect();
    assert_eq!(recipients, ["first@example.org", "second@example.org"]);
    assert_eq!(server.stop(), Some(0));
}

#[actix_web::test]
async fn international_domains_are_sent_as_a_labels_and_other_addresses_are_refused() {
    let peer = SmtpPeer::start();
    let mailer = SmtpMailer::new(&peer.url(), "service@example.org").unwrap();
    let mail = |to: &str| {
        let [to, subject, text] = [to, "Link", "https://localhost/x"].map(Into::into);
        mailer.send(Mail::plain(to, subject, text))
    };
    mail("owner@b\u{fc}cher.example").await.unwrap();
    let refused = mail("j\u{fc}rgen@example.org").await.unwrap_err();
    assert!(refused.permanent && refused.why.contains("SMTPUTF8"), "{refused:?}");
    let recipients: Vec<_> = peer.mails().into_iter().flat_map(|mail| mail.to).collect();
    assert_eq!(recipients, ["owner@xn--bcher-kva.example"]);
}

/// Starts a mail server that rejects one command with a reply. Returns its address.
fn rejecting(command: &'static str, answer: &'static str) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut lines = BufReader::new(&stream).lines();
            let mut line = "CONNECT".to_owned();
            loop {
                let said = match line.get(..4).unwrap_or_default() {
                    start if command.starts_with(start) => answer,
                    "CONN" => "220 peer",
                    "EHLO" => "250-peer\r\n250 AUTH PLAIN",
                    "AUTH" => "235 welcome",
                    _ => "250 ok",
                };
                let sent = (&stream).write_all(format!("{said}\r\n").as_bytes());
                let Some(Ok(next)) = lines.next().filter(|_| sent.is_ok()) else { break };
                line = next;
            }
        }
    });
    address
}

#[actix_web::test]
async fn only_a_rejected_recipient_is_permanent() {
    for (command, answer, is_permanent) in [
        ("CONNECT", "554 no service for this address", false),
        ("AUTH", "535 5.7.8 wrong user or password", false),
        ("AUTH", "534 5.7.9 application password required", false),
        ("AUTH", "538 encryption required", false),
        ("MAIL", "530 5.7.0 log in first", false),
        ("MAIL", "550 5.7.60 not allowed to send as this sender", false),
        ("MAIL", "553 5.7.1 sender is not yours", false),
        ("MAIL", "550 5.1.8 unknown sender", false),
        ("RCPT", "451 later", false),
        ("RCPT", "550 no such user", true),
        ("RCPT", "550 5.1.1 no such user", true),
        ("RCPT", "552 5.2.2 mailbox full", true),
    ] {
        let url = format!("smtp://user:word@{}", rejecting(command, answer));
        let mailer = SmtpMailer::new(&url, "service@example.org").unwrap();
        let [to, subject, text] =
            ["owner@example.org", "Link", "https://localhost/x"].map(Into::into);
        let error = mailer.send(Mail::plain(to, subject, text)).await.unwrap_err();
        assert_eq!(error.permanent, is_permanent, "{command}: {answer}: {error:?}");
        assert!(error.why.contains(&answer[..3]), "{answer}: {error:?}");
    }
}

#[actix_web::test]
async fn mails_in_a_folder_are_readable_by_their_owner_only() {
    let temporary = Database::in_file();
    let mails = temporary.folder().join("data/mail");
    let mailer = FolderMailer::new(&mails, "service@example.org").unwrap();
    let [to, subject, text] = ["owner@example.org", "Link", "https://localhost/x"].map(Into::into);
    mailer.send(Mail::plain(to, subject, text)).await.unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&mails), 0o700);
    let files: Vec<_> = mails.read_dir().unwrap().map(|file| mode(&file.unwrap().path())).collect();
    assert_eq!(files, [0o600]);
}
