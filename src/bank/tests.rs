use super::*;

mod crowd;
mod search;

type Answer = Poll<Result<(), Exhausted>>;

const GRANTED: Answer = Poll::Ready(Ok(()));
const REFUSED: Answer = Poll::Ready(Err(Exhausted));

fn ask(bank: &mut Bank, id: u64, bytes: u64, is_last: bool, waits: bool) -> Answer {
    let waker = waits.then(|| Waker::noop().clone());
    bank.request(id, Request { bytes, is_last, waker }, &mut None)
}

/// Opens the account of a body that holds `bytes` and grows.
fn growing(bank: &mut Bank, claim: u64, bytes: u64) -> u64 {
    let id = bank.open(claim);
    assert_eq!(ask(bank, id, bytes, false, false), GRANTED, "{claim} {bytes}");
    id
}

/// A body that waits for its first share, and returns its number.
fn waiting(bank: &mut Bank, claim: u64, bytes: u64, is_last: bool) -> u64 {
    let id = bank.open(claim);
    assert_eq!(ask(bank, id, bytes, is_last, true), Poll::Pending, "{claim} {bytes}");
    id
}

#[test]
fn body_begins_to_grow_if_all_can_still_finish() {
    type Case<'a> = (u64, &'a [(u64, u64)], (u64, u64), Answer);
    let table: &[Case<'_>] = &[
        // capacity, (claim, held) of growing bodies, (claim, bytes) of a new one, answer
        (10, &[], (10, 10), GRANTED),
        (10, &[], (10, 11), REFUSED),
        // The oldest of the class may need six more.
        (10, &[(10, 4)], (10, 1), REFUSED),
        (10, &[(8, 4)], (8, 2), GRANTED),
        (10, &[(8, 4)], (8, 3), REFUSED),
        // The others together are within what the oldest leaves.
        (10, &[(8, 4), (8, 1)], (8, 1), GRANTED),
        (10, &[(8, 4), (8, 1)], (8, 2), REFUSED),
        // A smaller claim finishes first, whatever the larger one needs.
        (10, &[(10, 4)], (5, 1), GRANTED),
        (10, &[(10, 5)], (6, 1), REFUSED),
        // A larger claim finishes last, and leaves room for the smaller one.
        (10, &[(5, 1)], (10, 5), GRANTED),
        (10, &[(5, 1)], (10, 6), REFUSED),
        (10, &[(5, 1), (10, 3)], (5, 2), GRANTED),
        (10, &[(5, 1), (10, 3)], (5, 3), REFUSED),
        (12, &[(5, 3), (10, 1)], (10, 2), GRANTED),
        (12, &[(5, 3), (10, 1)], (10, 3), REFUSED),
        // A body that gets its whole claim takes no part.
        (10, &[(10, 4)], (6, 6), GRANTED),
        (10, &[(10, 4)], (6, 7), REFUSED),
    ];
    for &(capacity, others, (claim, bytes), ref expected) in table {
        let mut bank = Bank::new(capacity);
        for &(claim, held) in others {
            growing(&mut bank, claim, held);
        }
        let id = bank.open(claim);
        let answer = ask(&mut bank, id, bytes, false, false);
        assert_eq!(&answer, expected, "{capacity} {others:?} {claim} {bytes}");
    }
}

#[test]
fn last_request_needs_only_free_bytes() {
    let mut bank = Bank::new(10);
    let slow = growing(&mut bank, 10, 1);
    let grows = bank.open(10);
    assert_eq!(ask(&mut bank, grows, 1, false, true), Poll::Pending);
    // It passes the body that has no room to grow.
    let only = bank.open(10);
    assert_eq!(ask(&mut bank, only, 8, true, false), GRANTED);
    let next = waiting(&mut bank, 10, 2, true);
    // The content of the finished body counts until it is dropped.
    bank.close(only);
    assert_eq!((bank.serve().len(), bank.free()), (0, 1));
    bank.give_back(only, 8);
    assert_eq!((bank.serve().len(), bank.free()), (1, 7));
    assert_eq!(ask(&mut bank, next, 2, true, true), GRANTED);
    bank.close(slow);
    bank.give_back(slow, 1);
    assert_eq!(bank.serve().len(), 1);
    assert_eq!(ask(&mut bank, grows, 1, false, true), GRANTED);
}

#[test]
fn slow_body_of_a_large_claim_leaves_room_for_small_claims() {
    let mut bank = Bank::new(100);
    growing(&mut bank, 100, 20);
    for _ in 0..7 {
        growing(&mut bank, 10, 5);
    }
    let small = growing(&mut bank, 10, 5);
    // The oldest of the small bodies can take its whole claim, and the others have 70 bytes.
    assert_eq!(ask(&mut bank, small, 5, false, false), GRANTED);
}

#[test]
fn growing_bodies_of_one_claim_are_served_from_the_oldest_on() {
    let mut bank = Bank::new(16);
    let bodies = [8, 8, 8].map(|claim| growing(&mut bank, claim, 2));
    let full = bank.open(10);
    assert_eq!(ask(&mut bank, full, 10, true, false), GRANTED);
    for id in bodies.into_iter().rev() {
        assert_eq!(ask(&mut bank, id, 4, false, true), Poll::Pending);
    }
    let polled = |bank: &mut Bank| bodies.map(|id| ask(bank, id, 4, false, true) == GRANTED);
    bank.give_back(full, 4);
    assert_eq!((bank.serve().len(), polled(&mut bank)), (1, [true, false, false]));
    // All bytes are free now, but the first body may need two more, so the others share eight.
    bank.give_back(full, 6);
    assert_eq!((bank.serve().len(), bank.free()), (1, 2));
    assert_eq!(ask(&mut bank, bodies[1], 4, false, true), GRANTED);
    assert_eq!(ask(&mut bank, bodies[2], 4, false, true), Poll::Pending);
}

#[test]
fn body_that_waits_for_free_bytes_lets_all_that_hold_nothing_wait() {
    let mut bank = Bank::new(10);
    let grows = growing(&mut bank, 8, 4);
    let full = bank.open(5);
    assert_eq!(ask(&mut bank, full, 5, true, false), GRANTED);
    assert_eq!(ask(&mut bank, grows, 2, false, true), Poll::Pending);
    // One byte is free. Many bodies of one byte would starve the first one.
    let small = waiting(&mut bank, 1, 1, true);
    assert_eq!(bank.serve().len(), 0);
    bank.give_back(full, 5);
    assert_eq!(bank.serve().len(), 2);
    assert_eq!(ask(&mut bank, grows, 2, false, true), GRANTED);
    assert_eq!(ask(&mut bank, small, 1, true, true), GRANTED);
}

#[test]
fn bodies_that_hold_nothing_are_served_in_the_order_of_their_requests() {
    let mut bank = Bank::new(10);
    let full = bank.open(10);
    assert_eq!(ask(&mut bank, full, 10, true, false), GRANTED);
    let requests = [(6, false), (6, true), (6, false)];
    let ids = requests.map(|(bytes, is_last)| waiting(&mut bank, 8, bytes, is_last));
    bank.give_back(full, 5);
    assert_eq!(bank.serve().len(), 0);
    for (id, (bytes, is_last)) in ids.into_iter().zip(requests) {
        bank.give_back(full, 1);
        assert_eq!((bank.serve().len(), bank.free()), (1, 0));
        assert_eq!(ask(&mut bank, id, bytes, is_last, true), GRANTED);
        bank.close(id);
        bank.give_back(id, 5);
        assert_eq!(bank.serve().len(), 0);
    }
}

#[test]
fn bodies_do_not_begin_to_grow_while_another_waits_to_grow() {
    let mut bank = Bank::new(20);
    let slow = growing(&mut bank, 16, 1);
    let grows = growing(&mut bank, 16, 1);
    assert_eq!(ask(&mut bank, grows, 4, false, true), Poll::Pending);
    // Many bodies of small claims would take the bytes that the other one needs.
    let small = waiting(&mut bank, 2, 1, false);
    bank.close(slow);
    bank.give_back(slow, 1);
    assert_eq!(bank.serve().len(), 2);
    assert_eq!(ask(&mut bank, grows, 4, false, true), GRANTED);
    assert_eq!(ask(&mut bank, small, 1, false, true), GRANTED);
}

#[test]
fn body_that_returned_all_its_memory_can_wait_again() {
    let mut bank = Bank::new(10);
    let id = bank.open(8);
    assert_eq!(ask(&mut bank, id, 4, true, false), GRANTED);
    // The allocator refused the memory.
    bank.give_back(id, 4);
    let full = bank.open(10);
    assert_eq!(ask(&mut bank, full, 9, true, false), GRANTED);
    assert_eq!(ask(&mut bank, id, 1, false, false), GRANTED);
    assert_eq!(ask(&mut bank, id, 1, false, true), Poll::Pending);
}

#[test]
fn body_that_needs_more_than_its_claim_never_waits() {
    let mut bank = Bank::new(10);
    let grown = growing(&mut bank, 4, 2);
    let settled = bank.open(4);
    assert_eq!(ask(&mut bank, settled, 4, false, true), GRANTED);
    // With the old buffer it held its claim. It keeps less, and needs no more.
    bank.give_back(settled, 3);
    assert_eq!(bank.classes.len(), 1);
    let full = bank.open(6);
    assert_eq!(ask(&mut bank, full, 6, true, false), GRANTED);
    assert_eq!(ask(&mut bank, grown, 3, false, true), REFUSED);
    assert_eq!(ask(&mut bank, settled, 2, false, true), REFUSED);
    assert_eq!(ask(&mut bank, settled, 1, false, true), GRANTED);
    assert_eq!(bank.free(), 0);
}

#[test]
fn content_counts_after_its_body_is_finished() {
    let mut bank = Bank::new(10);
    let id = growing(&mut bank, 10, 4);
    assert!(bank.close(id).is_none());
    assert_eq!((bank.bodies.len(), bank.classes.len(), bank.free()), (0, 0, 6));
    bank.give_back(id, 4);
    assert_eq!(bank.free(), 10);
}

/// The work of a request is bounded by the number of claims, and not by the number of bodies.
#[test]
fn claims_of_all_sizes_make_at_most_eight_classes_for_each_power_of_two() {
    let mut bank = Bank::new(u64::MAX);
    for claim in (1 << 20..1 << 24).step_by(1237) {
        growing(&mut bank, claim, 1);
    }
    assert!(bank.bodies.len() > 10_000, "{}", bank.bodies.len());
    assert_eq!((bank.classes.len(), bank.rooms().count()), (33, 33));
}

#[test]
fn withdrawn_requests_leave_nothing_behind() {
    let mut bank = Bank::new(100);
    let slow = growing(&mut bank, 100, 1);
    let full = bank.open(100);
    assert_eq!(ask(&mut bank, full, 99, true, false), GRANTED);
    let mut ids: Vec<_> = (0..1000).map(|at| waiting(&mut bank, 10, 2, at % 2 == 0)).collect();
    assert_eq!(ask(&mut bank, slow, 1, false, true), Poll::Pending);
    assert_eq!((bank.first.len(), bank.only.len()), (500, 500));
    // A body that does not wait is refused and leaves the others in place.
    assert_eq!(ask(&mut bank, full, 1, true, false), REFUSED);
    let fails = bank.open(10);
    assert_eq!(ask(&mut bank, fails, 1, true, false), REFUSED);
    ids.extend([slow, full, fails]);
    for &id in ids.iter().rev() {
        bank.close(id);
        assert_eq!(bank.serve().len(), 0);
    }
    bank.give_back(slow, 1);
    bank.give_back(full, 99);
    let queued = bank.first.len() + bank.only.len();
    assert_eq!((bank.bodies.len(), bank.classes.len(), queued, bank.free()), (0, 0, 0, 100));
}
