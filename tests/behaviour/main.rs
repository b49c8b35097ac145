//! One list of behaviours, which every adapter has against the loopback server.
//!
//! [`adapters`] is the list of adapters; a new one is an entry there, with what its vendor does otherwise. A behaviour
//! is a test that runs over all of them and says which one failed. All requests that are sent here, and what the
//! server answers, are held against the vendors' own specifications where these are at hand ([`spec`]).

mod adapters;
mod answers;
mod bench;
mod conduct;
mod conformance;
mod errors;
mod problem;
mod raw;
mod requests;
mod spec;
mod streams;
mod structured;
mod tools;
