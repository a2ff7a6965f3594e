//! Tests of what a response allocates, from the call of the service to the end of its body.

use std::convert::Infallible;
use std::future::ready;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Empty};
use presized_support::drive::drive;
use presized_support::frames::Frames;
use presized_support::ledger::{Ledger, Spent};
use presized_tower::{Delivery, PresizedLayer};
use tower::{ServiceBuilder, ServiceExt, service_fn};

use crate::get;

const LENGTH: usize = 1 << 20;

/// Reads a response through the layer. Returns the first frame, the length of all frames, and what was
/// allocated.
fn read(delivery: Delivery, content: &Bytes) -> (Bytes, usize, Spent) {
    let frames = Frames::of(content.clone());
    let service = ServiceBuilder::new()
        .layer(PresizedLayer::new(LENGTH as u64).delivery(delivery))
        .service(service_fn(move |_: Request<Empty<Bytes>>| {
            ready(Ok::<_, Infallible>(Response::new(frames.clone())))
        }));
    let request = get().body(Empty::new()).unwrap();
    let ((first, length), spent) = Ledger::measure(|| {
        let mut body = drive(service.oneshot(request)).unwrap().into_body();
        let mut next = || Some(drive(body.frame())?.unwrap().into_data().unwrap());
        let first = next().unwrap();
        let rest: usize = std::iter::from_fn(next).map(|frame| frame.len()).sum();
        let length = first.len() + rest;
        (first, length)
    });
    (first, length, spent)
}

#[test]
fn streamed_response_allocates_one_box_and_copies_nothing() {
    let _alone = Ledger::alone();
    let content = Bytes::from(vec![7; LENGTH]);
    let (first, length, spent) = read(Delivery::Streamed, &content);
    assert_eq!((first.as_ptr(), length), (content.as_ptr(), LENGTH));
    assert_eq!((spent.allocations, spent.large), (1, 0), "{spent:?}");
    assert!(spent.bytes < 256, "{spent:?}");
}

#[test]
fn presized_response_allocates_one_buffer() {
    let _alone = Ledger::alone();
    let content = Bytes::from(vec![7; LENGTH]);
    let (first, length, spent) = read(Delivery::Presized, &content);
    assert!(first == content && length == LENGTH);
    assert_eq!(spent.large, 1, "{spent:?}");
    assert!(spent.bytes < LENGTH as u64 + 2048, "{spent:?}");
}
