//! The callers, and their record of all calls.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use presized::BufferPool;
use presized_peers::caller::{Caller, Response};
use presized_support::client::Error;
use presized_support::pattern::{self, Pattern};
use serde::Deserialize;
use tokio::time::timeout;

use crate::function::CALLS_MAX;
use crate::plan::{Fate, Plan, mark};

/// The number of calls with each end, so far.
#[derive(Default)]
pub(crate) struct Calls {
    next: AtomicU64,
    /// Calls with the planned response.
    pub(crate) answered: AtomicU64,
    /// Calls with the planned error of the handler.
    pub(crate) refused: AtomicU64,
    pub(crate) panicked: AtomicU64,
    pub(crate) events_cut: AtomicU64,
    pub(crate) responses_cut: AtomicU64,
    /// A part of `answered`.
    pub(crate) receipts_cut: AtomicU64,
    /// Calls with another response than planned.
    pub(crate) mistaken: AtomicU64,
    /// Calls without a response.
    pub(crate) lost: AtomicU64,
    /// The sum of the marks of all calls that must run.
    pub(crate) marks: AtomicU64,
}

impl Calls {
    /// Makes calls, one after the other, until `end`.
    pub(crate) async fn make(&self, url: &str, pool: &BufferPool, end: Instant) {
        let mut caller = None;
        while Instant::now() < end {
            let call = self.next.fetch_add(1, Relaxed);
            if call >= CALLS_MAX {
                // The call is not made.
                self.next.fetch_sub(1, Relaxed);
                return;
            }
            let plan = Plan::of(call);
            if plan.runs() {
                self.marks.fetch_add(mark(call), Relaxed);
            }
            let one = Self::call(&mut caller, url, pool, call, plan);
            let ended = timeout(TIMEOUT, one).await.unwrap_or_else(|late| Err(late.into()));
            self.account(call, plan, ended, &mut caller);
        }
    }

    /// Returns the number of calls.
    pub(crate) fn made(&self) -> u64 {
        self.next.load(Relaxed)
    }

    /// Returns the number of calls that must reach the function.
    pub(crate) fn to_run(&self) -> u64 {
        self.made() - self.events_cut.load(Relaxed)
    }

    async fn call(
        caller: &mut Option<Caller<Pattern>>,
        url: &str,
        pool: &BufferPool,
        call: u64,
        plan: Plan,
    ) -> Result<Response, Error> {
        let caller = match caller {
            Some(caller) => caller,
            None => caller.insert(Caller::connect(url, pool).await?),
        };
        let context = base64(&format!("{{\"call\":{call}}}"));
        caller.call(FUNCTION, Some(&context), Pattern::of(plan.event)).await
    }

    fn account(
        &self,
        call: u64,
        plan: Plan,
        ended: Result<Response, Error>,
        caller: &mut Option<Caller<Pattern>>,
    ) {
        let count = match &ended {
            Err(_) => {
                *caller = None;
                &self.lost
            }
            Ok(response) if !is_right(response, plan) => &self.mistaken,
            Ok(_) => match plan.fate {
                Fate::Answered => &self.answered,
                Fate::ReceiptCut => {
                    self.receipts_cut.fetch_add(1, Relaxed);
                    &self.answered
                }
                Fate::Refused => &self.refused,
                Fate::Panics => &self.panicked,
                Fate::EventCut(_) => &self.events_cut,
                Fate::ResponseCut(_) => &self.responses_cut,
            },
        };
        count.fetch_add(1, Relaxed);
        match ended {
            Err(error) => eprintln!("call {call}, {plan:?}: {error}"),
            Ok(response) if !is_right(&response, plan) => {
                let begin = &response.payload[..response.payload.len().min(200)];
                let text = String::from_utf8_lossy(begin);
                eprintln!("call {call}, {plan:?}: {} bytes, {text}", response.payload.len());
            }
            Ok(_) => {}
        }
    }
}

fn is_right(response: &Response, plan: Plan) -> bool {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Report {
        error_type: String,
    }
    match plan.error_type() {
        None => !response.is_failure && pattern::is_whole(&response.payload, plan.response),
        Some(error_type) => {
            let report = serde_json::from_slice::<Report>(&response.payload);
            response.is_failure && report.is_ok_and(|report| report.error_type == error_type)
        }
    }
}

/// Encodes a text in base64 (RFC 4648, section 4).
fn base64(text: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut encoded = String::new();
    for three in text.as_bytes().chunks(3) {
        let bits = three.iter().fold(0, |bits, &byte| bits << 8 | u32::from(byte));
        let bits = bits << (8 * (3 - three.len()));
        for letter in 0..4 {
            let index = bits >> (18 - 6 * letter) & 63;
            let is_padding = letter > three.len();
            encoded.push(if is_padding { '=' } else { LETTERS[index as usize].into() });
        }
    }
    encoded
}

pub(crate) const FUNCTION: &str = "soak";

/// Longer than the timeout of the function, so that the emulator ends a late call.
const TIMEOUT: Duration = Duration::from_secs(180);
