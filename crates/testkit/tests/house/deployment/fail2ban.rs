//! Checks the filter in `deploy/fail2ban`.

use regex::Regex;

use super::read;

/// Returns the filter's expressions, for text and for JSON.
fn expressions() -> Vec<Regex> {
    let filter = read("deploy/fail2ban/quintet.conf");
    let (_, rest) = filter.split_once("\nfailregex = ").unwrap();
    let (expressions, _) = rest.split_once("\nignoreregex").unwrap();
    let expressions = expressions.lines().map(|line| line.trim().replace("<ADDR>", r"[0-9a-f.:]+"));
    expressions.map(|text| Regex::new(&text).unwrap()).collect()
}

fn is_found(line: &str) -> bool {
    expressions().iter().any(|expression| expression.is_match(line))
}

/// Returns an access log line in each format. The time is left out, because fail2ban removes it.
fn lines(status: u16, with_trace: bool) -> [String; 2] {
    let (text, span, trace) = match with_trace {
        true => (
            "trace_id=0af7651916cd43dd8448eb211c80319c span_id=b7ad6b7169203331 ",
            r#""span_id":"b7ad6b7169203331","#,
            r#","trace_id":"0af7651916cd43dd8448eb211c80319c""#,
        ),
        false => ("", "", ""),
    };
    [
        format!(
            "[ INFO  access] request request_id=a1 {text}client=192.0.2.7 key=3 method=GET \
             path=/a/{{b}} status={status} bytes=9 seconds=0.001 agent=\"x y\""
        ),
        format!(
            r#"{{"agent":"x \"y","bytes":9,"client":"192.0.2.7","key":3,"level":"INFO","message":"request","method":"GET","path":"/a/{{b}}","request_id":"a1","seconds":0.001,{span}"status":{status},"target":"access"{trace}}}"#
        ),
    ]
}

#[test]
fn refused_requests_are_found_with_and_without_a_trace() {
    assert_eq!(expressions().len(), 2);
    for with_trace in [false, true] {
        for status in [401, 403, 429] {
            for line in lines(status, with_trace) {
                assert!(is_found(&line), "{line}");
            }
        }
        for line in lines(200, with_trace) {
            assert!(!is_found(&line), "{line}");
        }
    }
}
