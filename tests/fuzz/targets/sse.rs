#![no_main]
//! Server-sent events: cut anywhere, the events are the same; nothing panics and limits hold.

use backstop_http::{SseDecoder, StreamLimits};
use libfuzzer_sys::fuzz_target;

fn events(pieces: impl Iterator<Item = Vec<u8>>) -> Vec<String> {
    let mut decoder = SseDecoder::new(StreamLimits::new(4 << 10, 64 << 10));
    let mut events = Vec::new();
    let mut drain = |decoder: &mut SseDecoder| {
        while let Some(item) = decoder.next_item() {
            let failed = item.is_err();
            events.push(format!("{item:?}"));
            if failed {
                break;
            }
        }
    };
    for piece in pieces {
        decoder.push(&piece);
        drain(&mut decoder);
    }
    decoder.finish();
    drain(&mut decoder);
    events
}

fuzz_target!(|input: (u8, Vec<u8>)| {
    let (size, bytes) = input;
    let whole = events(std::iter::once(bytes.clone()));
    let pieces = events(bytes.chunks(usize::from(size).max(1)).map(<[u8]>::to_vec));
    assert_eq!(whole, pieces);
});
