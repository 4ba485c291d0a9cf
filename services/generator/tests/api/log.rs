//! The content of the log. Also tests that a blocked log does not block the service.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Stdio;

use serde_json::Value;
use testkit::{Exchange, Process, Program, log_without, until, until_blocking};

const CLOSING: &str = "GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";

fn program() -> Program {
    Program::new(env!("CARGO_BIN_EXE_generator")).setting("WORKERS", "1")
}

/// Sends requests with long log lines and reads all responses.
fn ask_often(address: SocketAddr, number: usize) {
    const TOGETHER: usize = 50;
    let agent = "a".repeat(300);
    let request = format!("GET /nothing HTTP/1.1\r\nhost: x\r\nuser-agent: {agent}\r\n\r\n");
    let mut stream = TcpStream::connect(address).unwrap();
    let mut buffer = vec![0; 1 << 20];
    for _ in 0..number / TOGETHER {
        stream.write_all(request.repeat(TOGETHER).as_bytes()).unwrap();
        let (mut text, mut answers) = (Vec::new(), 0);
        while answers < TOGETHER {
            let read = stream.read(&mut buffer).unwrap();
            assert!(read > 0, "the connection ends");
            text.extend_from_slice(&buffer[..read]);
            answers = String::from_utf8_lossy(&text).matches("HTTP/1.1 404").count();
        }
    }
}

#[actix_web::test]
async fn unread_log_blocks_neither_requests_nor_the_shutdown() {
    let program = program().with_database();
    let mut served = testkit::Served::start_unread(program.serving(&[]));
    assert!(served.metric("log_lines_lost_total").await < 0.5);
    // The pipe holds 64 KiB and the queue 1 MiB. These requests log 2 MiB.
    ask_often(served.http(), 5_000);
    let lost = served.metric("log_lines_lost_total").await;
    assert!(lost > 100.0, "{lost}");
    served.process().signal("TERM");
    assert_eq!(served.process().wait(), Some(0));
}

#[actix_web::test]
async fn log_reports_the_number_of_lost_lines_once_it_is_read_again() {
    let program = program().with_database().setting("LOG_FORMAT", "json");
    let mut served = testkit::Served::start_unread(program.serving(&[]));
    ask_often(served.http(), 5_000);
    served.read_log();
    let reports = |log: &str| -> Vec<Value> {
        let lines = log.lines().filter(|line| line.starts_with('{'));
        let lines = lines.map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter(|line| line["target"] == "logs").collect()
    };
    until_blocking("the loss is reported", || !reports(&served.log()).is_empty());
    ask_often(served.http(), 50);
    let lost = served.metric("log_lines_lost_total").await;
    let told = || -> f64 {
        reports(&served.log()).iter().map(|line| line["lost"].as_f64().unwrap()).sum()
    };
    until_blocking("all losses are reported", || (lost - told()).abs() < 0.5);
    assert_eq!(served.stop(), Some(0));
}

#[actix_web::test]
async fn unwritable_log_blocks_neither_requests_nor_the_shutdown() {
    let program = program().with_database();
    let mut served = testkit::Served::start_unread(program.serving(&[]));
    served.close_log();
    ask_often(served.http(), 100);
    // The thread that writes the log counts what it cannot write.
    until("the lines are lost", async || served.metric("log_lines_lost_total").await > 50.0).await;
    assert_eq!(served.stop(), Some(0));
}

#[test]
fn command_keeps_its_exit_code_if_its_output_cannot_be_written() {
    let code = |arguments: &[&str]| {
        let program = program().setting("DATABASE_URL", "sqlite:///dev/null/x");
        let mut command = program.command(arguments);
        let full = || Stdio::from(std::fs::File::create("/dev/full").unwrap());
        Process::spawn(command.stdout(full()).stderr(full())).wait()
    };
    assert_eq!(code(&["keys", "list"]), Some(1));
    assert_eq!(code(&["serve"]), Some(1));
    assert_eq!(code(&["healthcheck", "--admin-bind", "127.0.0.1:1"]), Some(1));
    assert_eq!(code(&["openapi"]), Some(1));
    assert_eq!(code(&["--no-such-flag"]), Some(2));
}

#[test]
fn usage_error_exits_although_its_output_is_not_read() {
    // The reader exists but does not read. The pipe holds 64 KiB.
    let (_unread, mut full) = std::io::pipe().unwrap();
    full.write_all(&[b'x'; 64 << 10]).unwrap();
    let program = program();
    for (name, value) in [("WORKERS", "0"), ("RUST_LOG", "/(/"), ("LOG_FORMAT", "json")] {
        let mut command = program.command(&["--workers", "0"]);
        if name == "RUST_LOG" {
            command = program.command::<&str>(&[]);
        }
        command.env(name, value).stdout(Stdio::null()).stderr(full.try_clone().unwrap());
        assert_eq!(Process::spawn(&mut command).wait(), Some(2), "{name}");
    }
}

#[test]
fn command_exits_although_its_log_is_not_read() {
    let (_unread, mut full) = std::io::pipe().unwrap();
    full.write_all(&[b'x'; 64 << 10]).unwrap();
    let program = program().with_database().setting("RUST_LOG", "trace");
    for (arguments, expected) in
        [(&["migrate"][..], 0), (&["keys", "list"], 0), (&["keys", "revoke", "99"], 1)]
    {
        let mut command = program.command(arguments);
        command.stdout(Stdio::null()).stderr(full.try_clone().unwrap());
        assert_eq!(Process::spawn(&mut command).wait(), Some(expected), "{arguments:?}");
    }
}

#[actix_web::test]
async fn malformed_requests_are_logged() {
    let program = program().with_database().setting("PROXY_PROTOCOL", "on");
    let program = program.setting("TRUSTED_PROXIES", "127.0.0.1");
    let served = program.serve(&[]);
    let lines = || -> Vec<String> {
        let log = served.log();
        log.lines().filter(|line| line.contains("access]")).map(str::to_owned).collect()
    };
    let request = "PROXY TCP4 203.0.113.9 192.0.2.1 4711 80\r\nnonsense\r\n\r\n";
    assert_eq!(testkit::exchange(served.http(), request).status, 400);
    until_blocking("the request is logged", || lines().len() == 1);
    let line = lines().remove(0);
    let rest = " method=- path=- status=400 bytes=";
    assert!(line.contains(" client=203.0.113.0/24 ") && line.contains(rest), "{line}");
    let mut stream = TcpStream::connect(served.http()).unwrap();
    stream.write_all(b"PROXY TCP4 a b c d\r\n").unwrap();
    until_blocking("the connection is logged", || lines().len() == 2);
    let line = lines().remove(1);
    let rest = " method=- path=- status=400 bytes=0 ";
    assert!(line.contains(" client=127.0.0.0/24 ") && line.contains(rest), "{line}");
}

#[test]
fn too_low_a_limit_of_open_files_is_a_clear_error() {
    let program = program().with_database();
    let limited = |files: &str| {
        let serving = program.serving(&[]);
        let mut shell = std::process::Command::new("sh");
        shell.arg("-c").arg(format!("ulimit -n {files}; exec \"$@\"")).arg("sh");
        shell.arg(serving.get_program()).args(serving.get_args());
        shell.envs(serving.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell
    };
    for files in 4..20 {
        let ran = program.run_command(limited(&files.to_string()));
        let (code, errors) = (ran.code, &ran.errors);
        // The dynamic loader itself needs some files.
        let is_loaded = code != Some(127) && !errors.contains("error while loading");
        assert!(!is_loaded || code == Some(1) && !errors.contains("panicked"), "{files}: {errors}");
    }
    let ran = program.run_command(limited("20"));
    assert_eq!(ran.code, Some(1));
    let (_, needed) = ran.errors.split_once("needs at least ").unwrap();
    let served = testkit::Served::start(limited(needed.trim()));
    for _ in 0..2 {
        let held: Vec<_> = (0..40).map(|_| TcpStream::connect(served.http())).collect();
        drop(held);
        assert_eq!(testkit::exchange(served.http(), CLOSING).status, 200);
    }
}

/// Starts a command whose database never responds, so that a server never finishes starting.
fn starting(arguments: &[&str]) -> (Process, TcpListener) {
    let database = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://x@{}/x", database.local_addr().unwrap());
    (program().setting("DATABASE_URL", url).start(arguments), database)
}

#[test]
fn stop_during_the_start_exits_without_an_error() {
    for (arguments, signal, code) in [
        (&["serve"][..], "TERM", Some(0)),
        (&[], "INT", Some(0)),
        (&["keys", "list"], "TERM", None),
    ] {
        let (mut process, database) = starting(arguments);
        let _connection = database.accept().unwrap();
        process.signal(signal);
        // A command is killed by the signal itself and does not have an exit code.
        assert_eq!(process.wait(), code, "{arguments:?}");
    }
}

#[test]
fn signals_before_the_command_line_is_parsed_are_handled() {
    // The process has blocked the signals. Bit N - 1 of the mask is signal N.
    let is_held = |id: u32| {
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigBlk:")).unwrap_or("0");
        u64::from_str_radix(mask.trim(), 16).unwrap() & 1 << 14 != 0
    };
    let (mut server, _database) = starting(&["serve"]);
    until_blocking("the signals are held", || is_held(server.id()));
    server.signal("HUP");
    server.signal("TERM");
    assert_eq!(server.wait(), Some(0));
}

#[test]
fn reload_before_the_server_listens_does_not_kill_it() {
    let (mut server, database) = starting(&["serve"]);
    let (connection, _) = database.accept().unwrap();
    server.signal("HUP");
    // A process that was killed by a signal does not have an exit code. This one continues until
    // its database connection fails.
    drop((connection, database));
    assert_eq!(server.wait(), Some(1));
}

#[actix_web::test]
async fn the_log_shows_patterns_of_routes_at_any_level() {
    let program = program().with_database().setting("RUST_LOG", "trace");
    let served = program.serve(&[]);
    let number = "43664123456789";
    let phone = format!("/api/Phone/Validate?telephone=%2B{number}&x={number}");
    let iban = "/api/Finance/Iban/Validate?iban=AT611904300234573201";
    let paths = [phone.as_str(), iban, "/api/hush", "/docs/hush", "/?hush=hush", "/assets/hush"];
    let lines =
        log_without(&served, &paths, &[number, "611904300234573201", "hush", "664 123456789"])
            .await;
    assert!(lines.iter().all(|line| line.contains(" client=127.0.0.0/24 ")), "{lines:?}");
    assert!(lines.iter().all(|line| line.contains(" agent=\"tests/1 ?x\"")), "{lines:?}");
}

#[actix_web::test]
async fn access_line_has_client_key_status_and_size() {
    let program = program().with_database().setting("LOG_FORMAT", "json");
    let key = program.done(&["keys", "issue", "alice"]).trim().to_owned();
    for (shown, client) in
        [("none", Value::Null), ("net", "127.0.0.0/24".into()), ("full", "127.0.0.1".into())]
    {
        let served = program.serve(&["--log-client", shown]);
        let request = served.get("/api/Card/Types").header("x-api-key", &key);
        let answer = request.header("user-agent", "curl/8").answer().await;
        served.get("/api/Card/Types").answer().await;
        let access = || -> Vec<Value> {
            let log = served.log();
            let lines = log.lines().filter(|line| line.contains("\"access\""));
            lines.map(|line| serde_json::from_str(line).unwrap()).collect()
        };
        until_blocking("both requests are logged", || access().len() == 2);
        let lines = access();
        assert_eq!((&lines[0]["client"], &lines[0]["agent"]), (&client, &"curl/8".into()));
        assert_eq!(lines[0]["bytes"], answer.body.len());
        assert_eq!((&lines[0]["key"], &lines[1]["key"]), (&1.into(), &Value::Null));
        assert!(lines[0]["seconds"].as_f64().unwrap() > 0.0);
        assert!(!served.log().contains(&key[..6]), "{}", served.log());
    }
}
