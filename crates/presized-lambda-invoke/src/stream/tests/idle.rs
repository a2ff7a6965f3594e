use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{advance, sleep};

use super::super::idle::Idle;
use super::*;

const IDLE: Duration = Duration::from_secs(5);

#[tokio::test(start_paused = true)]
async fn stream_without_a_byte_for_the_idle_timeout_fails() {
    let chunk = unhex(CHUNK);
    for (steps, payload) in [
        (vec![Step::Hang], ""),
        (vec![data(chunk.clone()), Step::Hang], "abc"),
        // Neither an empty frame nor the first byte of an event is a chunk.
        (vec![data(chunk.clone()), data(""), Step::Hang], "abc"),
        (vec![data(chunk[..1].to_vec()), Step::Hang], ""),
    ] {
        let begin = Instant::now();
        let mut chunks = chunks_with(Mock::new(steps), Some(IDLE));
        let mut received = Vec::new();
        let error = loop {
            match chunks.next().await.expect("an error") {
                Ok(chunk) => received.extend_from_slice(&chunk),
                Err(error) => break error,
            }
        };
        assert_eq!(received, payload.as_bytes());
        assert_eq!(begin.elapsed().as_secs(), IDLE.as_secs());
        let text = error.to_string();
        let expected = format!(
            "no byte of the stream arrived for 5s while reading the response, after {} bytes",
            payload.len()
        );
        assert!(text.contains(&expected), "{text}");
        assert_eq!(outcome::<()>(&Err(error)), "timeout");
        assert!(chunks.next().await.is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn collect_fails_after_the_idle_timeout_with_the_bytes_before() {
    let chunks = chunks_with(Mock::new([data(unhex(CHUNK)), Step::Hang]), Some(IDLE));
    let begin = Instant::now();
    let error = collect::collect(chunks, 100.into()).await.expect_err("no end");
    assert_eq!(begin.elapsed().as_secs(), IDLE.as_secs());
    assert!(error.is_timeout() && error.may_have_run(), "{error}");
    assert_eq!(error.into_partial(), "abc");
}

#[tokio::test(start_paused = true)]
async fn each_byte_begins_the_idle_timeout_anew() {
    let (sender, mut chunks) = sent();
    let whole = [unhex(CHUNK), unhex(DONE_OK)].concat();
    let begin = Instant::now();
    tokio::spawn(async move {
        for piece in whole.chunks(whole.len().div_ceil(10)) {
            sleep(IDLE - Duration::from_millis(1)).await;
            sender.send(piece.to_vec().into()).expect("the stream is open");
        }
        // The body stays open.
        sleep(IDLE).await;
    });
    assert_eq!(chunks.next().await.expect("a chunk").expect("no error"), "abc");
    assert!(chunks.next().await.is_none());
    assert!(chunks.completion.is_some());
    assert!(begin.elapsed() > 9 * IDLE);
}

#[tokio::test(start_paused = true)]
async fn time_without_a_reader_is_not_idle() {
    let (sender, mut chunks) = sent();
    sender.send(unhex(CHUNK).into()).expect("the stream is open");
    assert_eq!(chunks.next().await.expect("a chunk").expect("no error"), "abc");
    advance(2 * IDLE).await;
    assert!(poll_once(pin!(chunks.next())).is_pending());
    advance(IDLE - Duration::from_millis(1)).await;
    assert!(poll_once(pin!(chunks.next())).is_pending());
    // It waits from here on, and its bytes arrive while it is not polled.
    sender.send(unhex(CHUNK).into()).expect("the stream is open");
    advance(2 * IDLE).await;
    assert_eq!(chunks.next().await.expect("a chunk").expect("no error"), "abc");
}

#[tokio::test(start_paused = true)]
async fn body_is_polled_once_more_after_the_idle_timeout() {
    let poll = async |idle: &mut Idle| std::future::poll_fn(|cx| Poll::Ready(idle.poll(cx))).await;
    let mut idle = Idle::new(IDLE);
    assert!(poll(&mut idle).await.is_pending());
    advance(2 * IDLE).await;
    assert!(poll(&mut idle).await.is_pending());
    idle.stop();
    assert!(poll(&mut idle).await.is_pending());
    advance(2 * IDLE).await;
    assert!(poll(&mut idle).await.is_pending());
    assert!(poll(&mut idle).await.is_ready());
}

#[tokio::test(start_paused = true)]
async fn idle_timeout_that_no_clock_can_express_is_none() {
    let mut chunks = chunks_with(Mock::new([Step::Hang]), Some(Duration::MAX));
    let begin = Instant::now();
    let error = chunks.next().await.expect("an error").expect_err("the deadline passes");
    assert_eq!(begin.elapsed().as_secs(), TIMEOUT.as_secs());
    assert!(error.is_timeout(), "{error}");
}

/// Returns chunks with an idle timeout, and the sender of their bytes.
fn sent() -> (UnboundedSender<Bytes>, Chunks<Sent>) {
    let (sender, receiver) = unbounded_channel();
    (sender, chunks_with(Sent(receiver), Some(IDLE)))
}

struct Sent(UnboundedReceiver<Bytes>);

impl Body for Sent {
    type Data = Bytes;
    type Error = MockError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, MockError>>> {
        self.0.poll_recv(cx).map(|data| data.map(|data| Ok(Frame::data(data))))
    }
}
