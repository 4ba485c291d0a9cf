//! A mail server for tests.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};

use crate::must::must;

/// An email that was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mail {
    /// The envelope sender.
    pub from: String,
    /// The envelope recipients.
    pub to: Vec<String>,
    /// Headers and body, with `\n` line endings.
    pub text: String,
}

impl Mail {
    /// Returns the message with quoted-printable encoding decoded.
    pub fn plain(&self) -> String {
        let mut bytes = Vec::new();
        let mut rest = self.text.as_bytes();
        while let Some((first, behind)) = rest.split_first() {
            rest = match (first, behind) {
                (b'=', [b'\n', behind @ ..]) => behind,
                (b'=', [high, low, behind @ ..]) if quoted(*high, *low).is_some() => {
                    bytes.extend(quoted(*high, *low));
                    behind
                }
                _ => {
                    bytes.push(*first);
                    behind
                }
            };
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Returns the first word that starts with `beginning`, e.g. a link.
    pub fn find(&self, beginning: &str) -> Option<String> {
        let plain = self.plain();
        let word = plain.split_whitespace().find(|word| word.starts_with(beginning));
        word.map(str::to_owned)
    }
}

fn quoted(high: u8, low: u8) -> Option<u8> {
    let text = [high, low];
    u8::from_str_radix(std::str::from_utf8(&text).ok()?, 16).ok()
}

#[derive(Debug, Default)]
struct Post {
    mails: Vec<Mail>,
    refusal: Option<String>,
}

/// A mail server on the loopback interface.
///
/// ```no_run
/// let smtp = testkit::SmtpPeer::start();
/// // The service sends an email to smtp.url().
/// let link = smtp.mails()[0].find("https://").unwrap();
/// ```
#[derive(Debug)]
pub struct SmtpPeer {
    address: SocketAddr,
    post: Arc<Mutex<Post>>,
}

impl SmtpPeer {
    /// Starts the server on a free port. It runs until the process exits.
    ///
    /// # Panics
    /// Panics if there is no free port.
    pub fn start() -> Self {
        let listener = must("listen", TcpListener::bind(("127.0.0.1", 0)));
        let address = must("read the address", listener.local_addr());
        let post = Arc::new(Mutex::new(Post::default()));
        let kept = Arc::clone(&post);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = Arc::clone(&kept);
                // The sender might already have closed the connection.
                std::thread::spawn(move || serve(&stream, &kept));
            }
        });
        Self { address, post }
    }

    /// Returns the address in the format of the setting, e.g. `smtp://127.0.0.1:2525`.
    pub fn url(&self) -> String {
        format!("smtp://{}", self.address)
    }

    fn post(&self) -> MutexGuard<'_, Post> {
        self.post.lock()
    }

    /// Returns all emails received so far.
    pub fn mails(&self) -> Vec<Mail> {
        self.post().mails.clone()
    }

    /// Makes the server answer every recipient with the line `answer`, e.g. `451 later` or `550 no
    /// such user`. With `None`, recipients are accepted again.
    pub fn refuse(&self, answer: Option<&str>) {
        self.post().refusal = answer.map(str::to_owned);
    }
}

fn serve(stream: &TcpStream, post: &Mutex<Post>) -> Option<()> {
    let _ = stream.set_read_timeout(Some(Duration::from_secs(120)));
    let post = || post.lock();
    let mut writer = stream;
    let mut say = |line: &str| writer.write_all(format!("{line}\r\n").as_bytes()).ok();
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let mut mail = Mail { from: String::new(), to: Vec::new(), text: String::new() };
    say("220 peer")?;
    while let Some(line) = lines.next() {
        let address = || {
            let inner = line.split(['<', '>']).nth(1);
            inner.unwrap_or_default().to_owned()
        };
        match line.to_ascii_uppercase().get(..4)? {
            "EHLO" => say("250-peer\r\n250 8BITMIME")?,
            "MAIL" => {
                mail = Mail { from: address(), to: Vec::new(), text: String::new() };
                say("250 ok")?;
            }
            "RCPT" => {
                let refusal = post().refusal.clone();
                match refusal {
                    Some(refusal) => say(&refusal)?,
                    None => {
                        mail.to.push(address());
                        say("250 ok")?;
                    }
                }
            }
            "DATA" => {
                say("354 send the mail")?;
                for line in lines.by_ref().take_while(|line| line != ".") {
                    let unstuffed = line.strip_prefix('.').unwrap_or(&line);
                    mail.text.push_str(unstuffed);
                    mail.text.push('\n');
                }
                post().mails.push(mail.clone());
                say("250 kept")?;
            }
            "QUIT" => return say("221 bye"),
            _ => say("250 ok")?,
        }
    }
    None
}
