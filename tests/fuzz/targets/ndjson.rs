#![no_main]
//! Lines of JSON: cut anywhere, the lines are the same; nothing panics and limits hold.

use backstop_http::{NdjsonDecoder, StreamLimits};
use libfuzzer_sys::fuzz_target;

fn lines(pieces: impl Iterator<Item = Vec<u8>>) -> Vec<String> {
    let mut decoder = NdjsonDecoder::new(StreamLimits::new(4 << 10, 64 << 10));
    let mut lines = Vec::new();
    let mut drain = |decoder: &mut NdjsonDecoder| {
        while let Some(line) = decoder.next_line() {
            let failed = line.is_err();
            lines.push(format!("{line:?}"));
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
    lines
}

fuzz_target!(|input: (u8, Vec<u8>)| {
    let (size, bytes) = input;
    let whole = lines(std::iter::once(bytes.clone()));
    let pieces = lines(bytes.chunks(usize::from(size).max(1)).map(<[u8]>::to_vec));
    assert_eq!(whole, pieces);
});
