//! Connections: who may open how many, how long they may stand still, what they may hold.
//!
//! actix serves HTTP/1.1 and HTTP/2 with a deadline for the first request head alone. This module
//! stands between its listener and its dispatchers so that every connection is bounded:
//!
//! | Bound | Setting | What happens at the bound |
//! |---|---|---|
//! | time from the first byte of a request head to its last | `HEAD_TIMEOUT` | 408 in the service's format |
//! | time without 1 KiB of progress of a request body | `BODY_TIMEOUT` | the body ends with an error |
//! | time for the rest of a body whose request is answered | 5 s | the connection is closed |
//! | time without 1 KiB of progress of an answer | `WRITE_TIMEOUT` | the connection or stream is cut |
//! | open connections | `MAX_CONNECTIONS` | further ones wait in the listener's queue |
//! | open connections of one address | `MAX_CONNECTIONS_PER_ADDRESS` | further ones are closed |
//! | open HTTP/2 streams of a connection | `MAX_REQUESTS_PER_CONNECTION` | announced in SETTINGS; more are refused |
//! | bytes held for clients: answers that they do not take, bodies that they send | 24 MiB a connection, 128 MiB a process; from 32 MiB on 64 KiB/s where more than 512 KiB are held | stream reset or refused, connection cut, body 503 |
//! | HTTP/2 frames that bring nothing forward | 4096 a connection | the connection is cut |
//!
//! [`acceptor`] is the service that actix-server hands sockets to, [`opening`] reads what comes before the
//! first request, [`guard`] is the socket with its
//! deadlines, [`hurry`] the pace under pressure, [`pipeline`] the turn of its requests, [`http2`] the HTTP/2 dispatcher, [`tracked`] the application with its accounts.

mod acceptor;
mod account;
mod body;
mod drain;
mod entrance;
mod frames;
mod guard;
mod http2;
mod hurry;
mod limits;
mod opening;
mod parser_answer;
mod peers;
mod pipeline;
mod progress;
mod socket;
mod tracked;

pub(crate) use acceptor::listener;
pub(crate) use account::{Load, Transport, load, show_metrics, transport};
pub(crate) use drain::Drain;
pub(crate) use entrance::Entrance;
pub(crate) use limits::Limits;
pub(crate) use parser_answer::ParserFaults;
pub(crate) use peers::Peers;
