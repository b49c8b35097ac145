//! Whole calls over real sockets: the OpenAI adapter against the loopback server. Real time, short timeouts; what is
//! asserted is order and counts.

mod extraction;
mod faults;
mod secrets;
mod stream;
mod support;
