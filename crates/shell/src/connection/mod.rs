//! Limits connections in number, time and memory.
//!
//! actix serves HTTP/1.1 and HTTP/2, but only sets a deadline for the first request head. This
//! module is in between its listener and its dispatchers, and enforces these limits on every
//! connection:
//!
//! | Limit | Setting | When it is reached |
//! |---|---|---|
//! | time to receive a request head | `HEAD_TIMEOUT` | 408 in the service's format |
//! | time without a request | 5 s, plus `HEAD_TIMEOUT` for HTTP/1.1 | the connection is closed |
//! | time to receive 1 KiB of a request body | `BODY_TIMEOUT` | reading the body fails |
//! | time to receive the rest of a body after responding | 5 s | the connection is closed |
//! | time for a client to acknowledge 1 KiB of a response | `WRITE_TIMEOUT` | the connection or stream is cut |
//! | open connections | `MAX_CONNECTIONS` | new ones wait in the listener's queue |
//! | open connections per address | `MAX_CONNECTIONS_PER_ADDRESS` | new ones are closed |
//! | open HTTP/2 streams per connection | `MAX_REQUESTS_PER_CONNECTION` | announced in SETTINGS; new ones are refused |
//! | memory for unread responses, request bodies and long heads | 24 MiB per connection, 128 MiB per process; above 32 MiB, connections that use more than 512 KiB must transfer 64 KiB/s; above 64 MiB, those that use more than 32 KiB | stream reset or refused, connection cut, 503 for a body or head |
//! | HTTP/2 frames without any effect | 4096 per connection | the connection is cut |
//!
//! A socket first goes to `acceptor`, the service to which actix-server hands accepted sockets.
//! `opening` then reads the PROXY header, does the TLS handshake and detects the protocol, and
//! `guard` wraps the socket to enforce its deadlines. HTTP/1.1 continues with `pipeline` and
//! actix's dispatcher, HTTP/2 with `http2`. Finally, `tracked` runs the application and keeps count
//! of requests and memory. `expectation` handles requests with `Expect: 100-continue`.
//!
//! # Assumptions about actix-http and actix-server
//!
//! We use actix-http's HTTP/1.1 dispatcher unmodified, but rely on undocumented behavior. After
//! upgrading actix-http, actix-server or h2, review their changes (in `h1/dispatcher.rs`,
//! `h1/encoder.rs` and `accept.rs`) and run the tests in the last column. These are in
//! `crates/shell/tests/shell` unless a file is given.
//!
//! | Assumption | Used in | Tests that fail if it stops being true |
//! |---|---|---|
//! | The dispatcher sends its own responses (400, 408, 431) in a single write of up to 160 bytes, with `HTTP/1.1 4xx`, headers, a blank line and no body, and only while no request is open. | `parser_answer::status` | `connections::unreadable_requests_get_the_body_of_the_service` |
//! | The dispatcher reads until the socket is pending, and parses a head as soon as its blank line has arrived. | `pipeline` | `connections::requests_of_a_client_that_reads_no_responses_are_not_read`, `tests/hostile.rs` |
//! | A request head ends at the first blank line, with LF or CRLF. | `pipeline::blank_line` | `smuggling` |
//! | The dispatcher reads a body to its end before it parses the next head, and drops whatever the handler didn't read. | `pipeline::Expected` | `smuggling`, `connections::an_unread_body_does_not_hide_the_answer` |
//! | Offering `h2c` in `Connection` makes the dispatcher close the connection. | `pipeline::refuse_upgrade` | `connections::an_offer_of_http2_is_ignored_and_the_connection_kept` |
//! | `on_connect_ext` data reaches each request of the connection as `conn_data`. | `tracked::connection` | `connections::open_connections_and_requests_are_counted` |
//! | The dispatcher drops a response body once its last byte is in the write buffer, and flushes afterwards. | `tracked::Watched`, `guard` | `lifecycle::a_stop_finishes_open_requests_and_reports_not_ready` |
//! | The dispatcher writes `100 Continue` when the `expect` service returns a request, and calls the application with that request. If the service returns an error, that is the response. | `expectation` | `expectation` |
//! | `graceful_shutdown_signal` ends idle connections, and a stop waits for the others. | `acceptor`, `entrance` | `lifecycle::a_stop_loses_no_requests` |
//! | actix-server calls a listener's service once per accepted socket and counts it until the future ends. | `acceptor` | `front_ends::connections_of_one_address_are_limited` |
//! | After the client's GOAWAY, h2 drops streams above the last one that it names. It compresses headers with a table of the size that the client allows. | `frames` | `http2::a_request_is_answered_after_goaway_of_its_client`, `http2::header_tables_do_not_grow_with_the_size_that_a_client_allows` |
//! | h2 resets streams above `max_concurrent_streams`, and `abrupt_shutdown` sends GOAWAY and closes. | `http2` | `http2::streams_above_the_limit_wait`, `http2::a_stop_does_not_wait_for_http2_clients_without_a_request` |

mod acceptor;
mod account;
mod acknowledged;
mod body;
mod entrance;
mod expectation;
mod frames;
mod guard;
mod http2;
mod limits;
mod minimum_rate;
mod opening;
mod parser_answer;
mod peers;
mod pipeline;
mod progress;
mod socket;
mod tracked;

pub(crate) use acceptor::listener;
pub(crate) use account::{Load, Transport, load, show_metrics, transport};
pub(crate) use entrance::{Drain, Entrance};
pub(crate) use limits::Limits;
pub(crate) use parser_answer::ParserFaults;
pub(crate) use peers::Peers;
