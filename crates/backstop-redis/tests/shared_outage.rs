//! The example, which checks what it prints. Not under the test harness, because it starts itself once more.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

#[path = "../examples/shared_outage.rs"]
mod example;

fn main() {
    example::main();
}
