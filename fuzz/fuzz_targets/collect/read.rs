//! One run: the body of a script, read in the form the script asks for.

use std::future::poll_fn;
use std::ops::ControlFlow;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http_body::Body;
use presized::{Collect, CollectError, CollectStats, MinRate, Presized, Progress, Reader};
use presized_ledger::{Ledger, Mark, Spent};

use crate::body::{Broken, Log, ScriptBody};
use crate::case::{Form, LEAST, Script, Step};
use crate::model::{Verdict, sums};

/// What came of the reading.
#[derive(Debug)]
pub struct Outcome {
    pub verdict: Verdict,
    /// The result, or what had arrived. Nothing is left of it where the future was
    /// dropped, unless the caller has it in a buffer.
    pub content: Option<Bytes>,
    pub received: u64,
    /// What the form tells beside the content.
    pub extra: Extra,
    /// What the callback was told of.
    pub progress: Vec<Progress>,
    pub log: Rc<Log>,
    /// By the reader, until it had a result.
    pub spent: Spent,
}

#[derive(Debug, Default)]
pub struct Extra {
    pub trailers: Option<Option<HeaderMap>>,
    pub stats: Option<CollectStats>,
    /// Of a `Vec` or a `String`.
    pub capacity: Option<usize>,
    pub truncated: bool,
}

pub fn read(script: &Script) -> Outcome {
    let log = Rc::new(Log::default());
    let mut progress = Vec::with_capacity(script.steps.len());
    let mut buffer = Vec::new();
    if let Form::AppendTo { used, spare } = script.form {
        buffer.reserve_exact(used + spare);
        buffer.resize(used, FILLER);
    }
    let run = Run { log: &log, wakes: Wakes::new() };

    let late = Arc::clone(&log.late);
    let is_late = move || if late.load(Relaxed) { Poll::Ready(()) } else { Poll::Pending };
    let rate = MinRate::new(LEAST, Duration::ZERO, move |_| {
        let is_late = is_late.clone();
        poll_fn(move |_| is_late())
    });
    let mut reader = Reader::new(script.limit).mismatch(script.mismatch).min_rate(rate);
    if let Some(eager) = script.eager {
        reader = reader.eager(eager);
    }
    let collect = Collect::new(ScriptBody::new(script, &log), reader)
        .content_length(script.content_length)
        .trailers_announced(script.trailers_announced)
        .on_progress(|seen| {
            let frame = sums(script).nth(progress.len());
            progress.push(seen);
            let stops = |(step, ..): (usize, u64, u64)| {
                matches!(script.steps[step], Step::Data { stops: true, .. })
            };
            if frame.is_some_and(stops) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })
        .until(poll_fn(|_| if log.stops.get() { Poll::Ready(()) } else { Poll::Pending }));

    Ledger::refuse_from(script.refuse_from);
    let (result, spent) = match script.form {
        Form::Bytes => run.run(collect.bytes(), |bytes| (bytes, Extra::default())),
        Form::Vec => run.run(collect.vec(), from_vec),
        Form::Text => run.run(collect.text(), |string| from_vec(string.into_bytes())),
        Form::Collected => run.run(collect.collected(), |collected| {
            let (trailers, stats) = (Some(collected.trailers), Some(collected.stats));
            (collected.content, Extra { trailers, stats, ..Extra::default() })
        }),
        Form::AppendTo { .. } => run.run(collect.append_to(&mut buffer), |stats| {
            (Bytes::new(), Extra { stats: Some(stats), ..Extra::default() })
        }),
        Form::Prefix => run.run(collect.prefix(), |prefix| {
            (prefix.content, Extra { truncated: prefix.truncated, ..Extra::default() })
        }),
        Form::Presized => run.run(frames(collect.into_presized(), &log), |(content, trailers)| {
            (content, Extra { trailers: Some(trailers), ..Extra::default() })
        }),
    };
    assert_eq!(Rc::strong_count(&log), 1, "the body outlives the reading");
    let (verdict, mut content, received, extra) = match result {
        None => (Verdict::NeverReady, None, log.received.get() as u64, Extra::default()),
        Some(Ok((content, extra))) => {
            let verdict = if extra.truncated { Verdict::Cut } else { Verdict::Whole };
            let received = extra.stats.map_or(content.len() as u64, |stats| stats.received);
            (verdict, Some(content), received, extra)
        }
        Some(Err(error)) => {
            let received = error.received();
            assert!(!error.to_string().is_empty());
            (verdict(&error, script), Some(error.into_partial()), received, Extra::default())
        }
    };
    Ledger::refuse_from(usize::MAX);

    if let Form::AppendTo { used, .. } = script.form {
        assert!(content.is_none_or(|content| content.is_empty()), "it is not in the buffer");
        assert!(buffer.len() >= used && buffer[..used].iter().all(|&byte| byte == FILLER));
        content = Some(Bytes::from(buffer).slice(used..));
    }
    Outcome { verdict, content, received, extra, progress, log, spent }
}

/// Runs a future until it is ready, or until the body hangs: then it is dropped.
pub fn drive<F: Future>(future: F, log: &Log, wakes: &Arc<Wakes>) -> Option<F::Output> {
    let waker = Waker::from(Arc::clone(wakes));
    let mut future = pin!(future);
    for _ in 0..POLLS_MAX {
        let before = wakes.0.load(Relaxed);
        log.in_one_poll.set((0, 0));
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return Some(output),
            Poll::Pending if log.hangs.get() => return None,
            Poll::Pending => assert_ne!(wakes.0.load(Relaxed), before, "nobody wakes it"),
        }
    }
    panic!("{POLLS_MAX} polls and no end");
}

/// Counts how often a task was woken.
pub struct Wakes(AtomicU32);

impl Wakes {
    pub fn new() -> Arc<Self> {
        Arc::new(Self(AtomicU32::new(0)))
    }
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Relaxed);
    }
}

struct Run<'a> {
    log: &'a Log,
    wakes: Arc<Wakes>,
}

type Read = (Bytes, Extra);

impl Run<'_> {
    fn run<T, E>(
        &self,
        future: impl Future<Output = Result<T, E>>,
        into: impl FnOnce(T) -> Read,
    ) -> (Option<Result<Read, E>>, Spent) {
        let mark = Mark::now();
        self.log.mark.set(Some(mark));
        let result = drive(future, self.log, &self.wakes);
        let spent = mark.spent();
        (result.map(|result| result.map(into)), spent)
    }
}

fn from_vec(vec: Vec<u8>) -> Read {
    let capacity = Some(vec.capacity());
    (Bytes::from(vec), Extra { capacity, ..Extra::default() })
}

/// All frames of a body that should have one with data and then one with trailers at
/// the most.
async fn frames<B: Body, F: FnMut(Progress) -> ControlFlow<()>, U: Future>(
    mut body: Presized<B, F, U>,
    log: &Rc<Log>,
) -> Result<(Bytes, Option<HeaderMap>), CollectError<B::Error>> {
    let (mut content, mut trailers) = (Bytes::new(), None);
    while let Some(frame) = next(&mut body).await {
        assert_eq!(Rc::strong_count(log), 1, "the body outlives its end");
        let frame = match frame {
            Ok(frame) => frame,
            Err(error) => {
                assert!(next(&mut body).await.is_none(), "it goes on after an error");
                return Err(error);
            }
        };
        assert!(trailers.is_none(), "frames after the trailers");
        match frame.into_data() {
            Ok(data) => {
                assert!(content.is_empty() && !data.is_empty());
                content = data;
            }
            Err(frame) => trailers = Some(frame.into_trailers().expect("trailers")),
        }
        assert_eq!(body.size_hint().exact(), Some(0), "nothing is left");
    }
    assert!(body.is_end_stream());
    assert!(next(&mut body).await.is_none(), "it goes on after its end");
    Ok((content, trailers))
}

async fn next<B: Body + Unpin>(
    body: &mut B,
) -> Option<Result<http_body::Frame<B::Data>, B::Error>> {
    poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await
}

/// The same in the words of the model.
fn verdict(error: &CollectError<Broken>, script: &Script) -> Verdict {
    match *error {
        CollectError::DeclaredTooLarge { declared, limit, .. } => {
            assert_eq!(limit, script.limit);
            Verdict::DeclaredTooLarge { declared }
        }
        CollectError::TooLarge { limit, received, .. } => {
            assert_eq!(limit, script.limit);
            Verdict::TooLarge { received }
        }
        CollectError::Incomplete { declared, received, .. } => {
            Verdict::Incomplete { declared, received }
        }
        CollectError::Longer { declared, received, .. } => Verdict::Longer { declared, received },
        CollectError::OutOfMemory { requested, .. } => Verdict::OutOfMemory { requested },
        CollectError::Stalled { received, .. } => Verdict::Stalled { received },
        CollectError::Stopped { declared, received, .. } => Verdict::Stopped { declared, received },
        CollectError::TooSlow { arrived, received, .. } => Verdict::TooSlow { arrived, received },
        CollectError::InvalidUtf8 { valid_up_to, .. } => Verdict::NotText { valid_up_to },
        CollectError::Body { declared, received, .. } => Verdict::Broken { declared, received },
        _ => panic!("an error the model does not know: {error}"),
    }
}

/// What is in the caller's buffer before.
const FILLER: u8 = 0xA5;

const POLLS_MAX: u32 = 1 << 16;
