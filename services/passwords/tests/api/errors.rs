//! All errors: status, headers and body.

use std::os::unix::fs::FileExt;

use passwords::model::Kind;

use crate::app::{App, Data, Numbers};

/// The start of each request.
const REQUESTS: [(&str, &str); 8] = [
    ("another path", "GET /other HTTP/1.1\r\nuser-agent: x"),
    ("no prefix", "GET /range/ HTTP/1.1\r\nuser-agent: x"),
    ("six characters", "GET /range/21BD12 HTTP/1.1\r\nuser-agent: x"),
    ("not hexadecimal", "GET /range/21BDG HTTP/1.1\r\nuser-agent: x"),
    ("another method", "DELETE /range/21BD1 HTTP/1.1\r\nuser-agent: x"),
    ("no user agent", "GET /range/21BD1 HTTP/1.1"),
    ("no corpus", "GET /range/21BD1?mode=ntlm HTTP/1.1\r\nuser-agent: x"),
    ("a damaged bucket", "GET /range/21BD1 HTTP/1.1\r\nuser-agent: x"),
];

#[actix_web::test]
async fn errors_have_their_status_headers_and_text() {
    let data = Data::new();
    let path = data.activate(Kind::Sha1, &Numbers::new(1).entries(Kind::Sha1, &[(0x21BD1, 3)]));
    let app = App::start_with(&data, |settings, _| {
        settings.in_memory_limit_mb = 0;
        settings.require_user_agent = shell::Switch::On;
    })
    .await;
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    // Remove the last byte of the bucket's counts.
    let end = file.metadata().unwrap().len();
    file.write_all_at(&[0xFF], end - 1).unwrap();
    let mut table = String::new();
    for (name, request) in REQUESTS {
        let request = format!("{request}\r\nhost: x\r\nconnection: close\r\n\r\n");
        let answer = app.raw(&request).await;
        let mut head: Vec<&str> = answer.head.lines().collect();
        head[1..].sort_unstable();
        let head: Vec<_> = head.into_iter().filter(|line| !is_of_the_moment(line)).collect();
        table += &format!("{name}\n{}\n\n{}\n\n\n", head.join("\n"), answer.text());
    }
    insta::assert_snapshot!(table);
}

fn is_of_the_moment(line: &str) -> bool {
    line.starts_with("date:") || line.starts_with("x-request-id:")
}
