use super::*;

/// Accounts of bodies with these claims and held bytes. The first body requests.
fn bank(capacity: u64, bodies: &[(u64, u64)]) -> Bank {
    let mut bank = Bank::new(capacity);
    for &(claim, held) in bodies {
        let id = bank.open(claim);
        bank.grant(id, held);
    }
    bank
}

#[test]
fn share_is_granted_if_all_bodies_can_still_finish() {
    type Case<'a> = (u64, &'a [(u64, u64)], u64, bool);
    let table: &[Case<'_>] = &[
        // capacity, (claim, held) of the bodies, request of the first, granted
        (10, &[(10, 0)], 10, true),
        (10, &[(10, 0)], 11, false),
        // The other body needs six more, and the first would take one of them.
        (10, &[(10, 0), (10, 4)], 1, false),
        (10, &[(5, 0), (10, 4)], 1, true),
        // The whole claim: the body finishes alone.
        (10, &[(6, 0), (10, 4)], 6, true),
        // The second can finish after the first, and then the third.
        (10, &[(4, 2), (7, 2), (10, 3)], 1, true),
        // The second could finish after the first, and the third could never finish.
        (10, &[(4, 2), (10, 2), (10, 3)], 1, false),
        (10, &[(4, 2), (10, 2), (10, 3)], 2, true),
        // Bodies that hold nothing finish last.
        (10, &[(10, 5), (10, 0), (10, 0)], 1, true),
        // A body that holds its whole claim returns it.
        (10, &[(6, 0), (5, 5)], 1, true),
    ];
    for &(capacity, bodies, bytes, granted) in table {
        assert_eq!(bank(capacity, bodies).can_grant(0, bytes), granted, "{bodies:?} {bytes}");
    }
}

/// Compares every state of three bodies under a small budget with a search of all orders.
#[test]
fn safety_equals_a_search_of_all_orders() {
    fn finishes(free: u64, left: &[(u64, u64)]) -> bool {
        left.is_empty()
            || (0..left.len()).any(|first| {
                let (need, held) = left[first];
                let mut others = left.to_vec();
                others.remove(first);
                need <= free && finishes(free + held, &others)
            })
    }
    const CAPACITY: u64 = 5;
    let bodies = || (0..=CAPACITY).flat_map(|claim| (0..=claim).map(move |held| (claim, held)));
    let mut checked = 0;
    for settled in 0..=1 {
        for (first, second) in bodies().flat_map(|a| bodies().map(move |b| (a, b))) {
            for third in bodies() {
                let all = [first, second, third];
                let held = settled + all.iter().map(|(_, held)| held).sum::<u64>();
                let Some(free) = CAPACITY.checked_sub(held) else { continue };
                let needs = all.map(|(claim, held)| (claim - held, held));
                // Unsafe states are never reached.
                if !finishes(free + settled, &needs) {
                    continue;
                }
                let mut bank = bank(CAPACITY, &all);
                bank.settled = settled;
                bank.free = free;
                for bytes in 1..=first.0 - first.1 {
                    let mut after = needs;
                    after[0] = (needs[0].0 - bytes, needs[0].1 + bytes);
                    let safe = bytes <= free && finishes(free - bytes + settled, &after);
                    assert_eq!(bank.can_grant(0, bytes), safe, "{all:?} {settled} {bytes}");
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 500, "{checked}");
}

#[test]
fn content_counts_after_its_body_is_finished() {
    let mut bank = bank(10, &[(10, 4)]);
    assert!(bank.close(0).is_none());
    assert_eq!((bank.bodies.len(), bank.settled, bank.free()), (0, 4, 6));
    bank.give_back(0, 4);
    assert_eq!((bank.needs.len(), bank.settled, bank.free()), (0, 0, 10));
}
