//! Requests to addresses that users name.
