//! The metrics of a real process, because all tests in a process share their metrics.

use std::os::unix::fs::FileExt;

use passwords::model::Kind;
use testkit::{Exchange, until};

use crate::app::{Data, Numbers};

#[actix_web::test]
async fn loads_and_failures_are_counted_from_zero() {
    let data = Data::new();
    let path = data.activate(Kind::Sha1, &Numbers::new(1).entries(Kind::Sha1, &[(0x21BD1, 1)]));
    let settings = ["--in-memory-limit-mb", "0", "--verify-on-read", "on"];
    let mut served = data.program().serve(&settings);
    let loads = |kind: &str, result: &str| {
        format!("passwords_corpus_loads_total{{kind=\"{kind}\",result=\"{result}\"}}")
    };
    let failures = "passwords_bucket_failures_total{kind=\"sha1\"}";
    for (name, value) in [
        (loads("sha1", "loaded"), 1.0),
        (loads("sha1", "refused"), 0.0),
        (loads("ntlm", "loaded"), 0.0),
        (failures.to_owned(), 0.0),
        ("passwords_corpus_entries{kind=\"sha1\"}".to_owned(), 1.0),
    ] {
        assert_eq!(served.metric(&name).await, value, "{name}");
    }
    let length = std::fs::metadata(&path).unwrap().len();
    let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(&[0x7E], length - 9).unwrap();
    assert_eq!(served.get("/range/21BD1").answer().await.status, 500);
    assert_eq!(served.metric(failures).await, 1.0);
    data.write("sha1/damaged.pwr", "PWRANGE");
    data.write("sha1/CURRENT", "damaged.pwr\n");
    served.process().signal("HUP");
    until("the damaged corpus is refused", async || {
        served.metric(&loads("sha1", "refused")).await == 1.0
    })
    .await;
    assert_eq!(served.metric(&loads("sha1", "loaded")).await, 1.0);
}
