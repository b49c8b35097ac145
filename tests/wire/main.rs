//! Whole calls over real sockets: adapters against the loopback server. Real time, short timeouts; what is
//! asserted is order and counts.

mod extraction;
mod faults;
mod prompts;
mod secrets;
mod stream;
mod support;
