//! Reads any body in any form. The oracle for the bytes is `http_body_util`'s
//! `collect().to_bytes()`, cut where the model says; the one for everything else is the
//! model.

#![no_main]

mod body;
mod case;
mod model;
mod pattern;
mod read;

use http_body_util::BodyExt;
use libfuzzer_sys::fuzz_target;
use presized::ContentLength;
use presized_ledger::Ledger;

use crate::body::{Log, OVERHEAD, ScriptBody};
use crate::case::{Case, Form, Script};
use crate::model::{Expected, Verdict, expected, reservations, sums};
use crate::pattern::Pattern;
use crate::read::{Outcome, Wakes, drive, read};

#[global_allocator]
static LEDGER: Ledger = Ledger;

fuzz_target!(init: {
    // Once, and not while a reader is measured.
    for pattern in Pattern::ALL {
        pattern.bytes();
    }
    Ledger::count_this_thread(true);
    // The report of a panic takes memory, and waits for ever where there is none.
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        Ledger::refuse_from(usize::MAX);
        report(panic);
    }));
}, |case: Case| {
    let script = case.script();
    let expected = expected(&script);
    let outcome = read(&script);
    check_verdict(&script, &expected, &outcome);
    check_content(&script, &expected, &outcome);
    check_progress(&script, &expected, &outcome);
    check_stats(&script, &expected, &outcome);
    check_memory(&script, &expected, &outcome);
});

fn check_verdict(script: &Script, expected: &Expected, outcome: &Outcome) {
    if let Verdict::OutOfMemory { requested } = outcome.verdict {
        // What the caller has in his buffer is reserved again together with the content.
        let most = requested.saturating_add(script.used() as u64);
        assert!(most >= script.refuse_from as u64, "nobody refused {requested} bytes");
        assert_eq!(outcome.received, outcome.log.received.get() as u64);
        return;
    }
    assert_eq!(outcome.verdict, expected.verdict);
    assert_eq!(outcome.received, expected.received());
    assert_eq!(outcome.log.polls.get() > 0, expected.is_polled);
}

fn check_content(script: &Script, expected: &Expected, outcome: &Outcome) {
    let unharmed = ScriptBody::unharmed(script).collect();
    let oracle = match drive(unharmed, &Log::default(), &Wakes::new()) {
        Some(Ok(oracle)) => oracle,
        _ => unreachable!("an unharmed body ends"),
    };
    if let Some(found) = &outcome.extra.trailers {
        assert_eq!(*found, expected.trailers);
        // The oracle keeps only the last values of a field that several frames have.
        assert!(script.has_several_trailers() || *found == oracle.trailers().cloned());
    }

    let Some(content) = &outcome.content else { return };
    let all = oracle.to_bytes();
    assert!(content.len() <= expected.kept && content == &all[..content.len()], "wrong bytes");
    // If the buffer cannot grow, it keeps the content that it has.
    let is_starved = matches!(outcome.verdict, Verdict::OutOfMemory { .. })
        || !outcome.verdict.is_success() && expected.kept + script.used() >= script.refuse_from;
    assert!(content.len() == expected.kept || is_starved, "{} bytes kept", content.len());
}

fn check_progress(script: &Script, expected: &Expected, outcome: &Outcome) {
    let mut told = 0;
    for (seen, (_, _, sum)) in outcome.progress.iter().zip(sums(script)) {
        told += 1;
        assert_eq!(seen.received, sum);
        let declared = expected.content_length.value();
        assert_eq!(seen.expected, declared.filter(|&declared| sum <= declared));
    }
    assert_eq!(told, outcome.progress.len(), "more often than there are frames");
    // The frame with which reading stops is not told of.
    let frames = outcome.log.frames.get();
    let last = outcome.verdict == Verdict::Whole || outcome.verdict == Verdict::NeverReady;
    assert!(told as u64 == frames || !last && told as u64 + 1 == frames);
}

fn check_stats(script: &Script, expected: &Expected, outcome: &Outcome) {
    let (Some(stats), spent) = (&outcome.extra.stats, outcome.spent) else { return };
    let length = expected.content_length;
    assert_eq!(stats.content_length, length);
    assert_eq!(stats.received, expected.received());
    assert_eq!(stats.frames, outcome.log.frames.get());
    let exact = if let ContentLength::Exact(exact) = length { exact } else { stats.received };
    assert_eq!(stats.is_longer(), stats.received > exact);
    assert_eq!(stats.is_shorter(), stats.received < exact);
    let told = stats.peak.saturating_add(OVERHEAD + script.used() as u64);
    assert!(spent.peak <= told, "{spent:?}, but {stats:?}");

    // What the crate is for.
    if length == ContentLength::Exact(stats.received) {
        let most = reservations(script, stats.received);
        assert!(most <= 1 || stats.received > script.eager());
        assert!(stats.reservations <= most, "{stats:?}, but {most} would do");
        // The map of many trailers grows to large blocks of its own.
        let is_counted = !script.has_several_trailers();
        assert!(!is_counted || spent.large <= most.into(), "{spent:?}, but {most} would do");
    }
    match (script.form, &outcome.content) {
        (Form::AppendTo { spare, .. }, _) if stats.received <= spare as u64 => {
            assert_eq!(stats.reservations, 0);
        }
        (Form::Collected, Some(content)) if stats.reservations == 0 => {
            assert!(content.is_empty() || script.pattern.is_part(content), "copied");
        }
        _ => {}
    }
}

fn check_memory(script: &Script, expected: &Expected, outcome: &Outcome) {
    let spent = outcome.spent;
    if outcome.log.polls.get() == 0 && script.form != Form::Presized {
        assert_eq!(spent.allocations, 0);
    }
    // Both buffers exist during a reallocation.
    let received = outcome.log.received.get() as u64;
    let most = script.earned(received).saturating_mul(2).saturating_add(script.used() as u64);
    assert!(spent.peak <= most.saturating_add(OVERHEAD), "{spent:?}, but {most} earned");
    if expected.content_length.value().is_none() {
        // Without a length the buffer quadruples. An earlier buffer of another length, such as that
        // of the caller, is beside it.
        let most = 5 * received + 4 * script.used() as u64;
        assert!(spent.peak <= most + OVERHEAD, "{spent:?} for {received}");
    }
    if let (Some(capacity), Some(content)) = (outcome.extra.capacity, &outcome.content)
        && content.len() < script.refuse_from
    {
        let len = content.len();
        let most = if len < 128 << 10 { len / 4 } else { 3 * len };
        assert!(capacity - len <= most, "{len} bytes in a buffer of {capacity}");
    }
}
