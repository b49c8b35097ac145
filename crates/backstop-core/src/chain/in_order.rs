//! One target after the other, until one serves, the call must stop, or none is left.

use super::{
    context::Cx,
    serve::{End, Got, serve},
    visit::Lane,
    walk::Walk,
};
use crate::error::Failure;

/// How a call ended.
pub(crate) enum CallEnd<'a> {
    Served { position: usize, got: Got<'a> },
    GaveUp(Failure),
    NothingLeft { last: Option<Failure> },
}

/// One target after the other, from this position on.
pub(crate) async fn in_order<'a>(cx: &'a Cx<'a>, walk: &mut Walk, from: usize) -> CallEnd<'a> {
    let mut last = None;
    for position in cx.order.positions().skip(from) {
        let Some(slot) = cx.slot(position) else { continue };
        if let Some(reason) = walk.passes_over(cx, position, slot) {
            cx.skip(slot, reason);
            continue;
        }
        match serve(cx, walk, position, slot, Lane::default()).await {
            End::Served(got) => return CallEnd::Served { position, got },
            End::GiveUp(failure) => return CallEnd::GaveUp(failure),
            End::Next(failure) => last = failure.or(last),
        }
    }
    CallEnd::NothingLeft { last }
}
