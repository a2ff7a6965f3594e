use std::collections::VecDeque;
use std::future::poll_fn;

use super::*;

#[tokio::test]
async fn error_of_a_write_is_reported_after_the_last_byte() {
    for operation in OPERATIONS {
        let mut stream = stream([Step::Data("re"), Step::Data("sponse"), Step::End]);
        for expected in ["re", "sponse"] {
            assert!(poll(&mut stream, operation).await.is_pending());
            assert_eq!(read(&mut stream).await.unwrap(), expected);
        }
        assert!(poll(&mut stream, operation).await.is_pending());
        assert_eq!(read(&mut stream).await.unwrap_err().to_string(), FAILED);
        for operation in OPERATIONS {
            let Poll::Ready(result) = poll(&mut stream, operation).await else { panic!("pending") };
            assert_eq!(result.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        }
        assert_eq!(read(&mut stream).await.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }
}

#[tokio::test]
async fn write_of_http2_is_discarded_until_the_error_is_reported() {
    for operation in OPERATIONS {
        let mut stream = stream([Step::Data("response"), Step::End]);
        stream.is_http2 = true;
        finish(&mut stream, operation).await.unwrap();
        assert_eq!(read(&mut stream).await.unwrap(), "response");
        finish(&mut stream, operation).await.unwrap();
        assert_eq!(read(&mut stream).await.unwrap_err().to_string(), FAILED);
        let error = finish(&mut stream, operation).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}

#[tokio::test]
async fn error_of_the_read_side_ends_the_wait() {
    let mut stream = stream([Step::Data("re"), Step::Fail]);
    assert!(poll(&mut stream, Operation::Write).await.is_pending());
    assert_eq!(read(&mut stream).await.unwrap(), "re");
    assert_eq!(read(&mut stream).await.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
    let error = finish(&mut stream, Operation::Write).await.unwrap_err();
    assert_eq!(error.to_string(), FAILED);
}

#[tokio::test(start_paused = true)]
async fn error_of_a_write_is_not_held_back_for_ever() {
    for operation in OPERATIONS {
        let mut stream = stream([]);
        let begin = Instant::now();
        let error = finish(&mut stream, operation).await.unwrap_err();
        assert_eq!((error.to_string().as_str(), begin.elapsed()), (FAILED, HOLD));
    }
    let mut stream = stream([Step::Data("re")]);
    let begin = Instant::now();
    assert!(poll(&mut stream, Operation::Write).await.is_pending());
    tokio::time::sleep(HOLD / 2).await;
    assert_eq!(read(&mut stream).await.unwrap(), "re");
    assert_eq!(read(&mut stream).await.unwrap_err().to_string(), FAILED);
    assert_eq!(begin.elapsed(), HOLD / 2 + HOLD);
}

/// The preface of HTTP/2 fails so, and its request was not sent.
#[tokio::test]
async fn error_of_the_first_write_is_reported_at_once() {
    for is_http2 in [false, true] {
        for operation in OPERATIONS {
            let broken = Broken([Step::Data("response")].into());
            let mut stream = DeferredWriteError::new(broken, is_http2);
            let error = finish(&mut stream, operation).await.unwrap_err();
            assert_eq!(error.to_string(), FAILED);
        }
    }
}

#[tokio::test]
async fn stream_without_a_failed_write_is_unchanged() {
    let mut stream = stream([Step::Data("re"), Step::End, Step::Data("sponse"), Step::Fail]);
    assert_eq!(read(&mut stream).await.unwrap(), "re");
    assert_eq!(read(&mut stream).await.unwrap(), "");
    assert_eq!(read(&mut stream).await.unwrap(), "sponse");
    assert_eq!(read(&mut stream).await.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
}

/// A stream whose writes fail.
#[derive(Debug)]
struct Broken(VecDeque<Step>);

/// The result of a read.
#[derive(Debug)]
enum Step {
    Data(&'static str),
    End,
    Fail,
}

#[derive(Clone, Copy, Debug)]
enum Operation {
    Write,
    WriteVectored,
    Flush,
}

fn stream<const N: usize>(reads: [Step; N]) -> DeferredWriteError<Broken> {
    let mut stream = DeferredWriteError::new(Broken(reads.into()), false);
    stream.has_written = true;
    stream
}

impl Read for Broken {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        mut buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        match self.0.pop_front() {
            Some(Step::Data(data)) => buf.put_slice(data.as_bytes()),
            Some(Step::End) => {}
            Some(Step::Fail) => return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into())),
            None => return Poll::Pending,
        }
        Poll::Ready(Ok(()))
    }
}

impl Write for Broken {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Err(failed()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Err(failed()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

fn failed() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, FAILED)
}

async fn read(stream: &mut DeferredWriteError<Broken>) -> io::Result<String> {
    let mut bytes = [0; 16];
    let mut buf = ReadBuf::new(&mut bytes);
    poll_fn(|cx| Pin::new(&mut *stream).poll_read(cx, buf.unfilled())).await?;
    Ok(String::from_utf8(buf.filled().to_vec()).unwrap())
}

async fn finish(stream: &mut DeferredWriteError<Broken>, operation: Operation) -> io::Result<()> {
    poll_fn(|cx| {
        let stream = Pin::new(&mut *stream);
        match operation {
            Operation::Write => stream.poll_write(cx, b"x").map_ok(drop),
            Operation::WriteVectored => {
                stream.poll_write_vectored(cx, &[IoSlice::new(b"x")]).map_ok(drop)
            }
            Operation::Flush => stream.poll_flush(cx),
        }
    })
    .await
}

async fn poll(
    stream: &mut DeferredWriteError<Broken>,
    operation: Operation,
) -> Poll<io::Result<()>> {
    let mut finishing = std::pin::pin!(finish(stream, operation));
    poll_fn(|cx| Poll::Ready(finishing.as_mut().poll(cx))).await
}

const OPERATIONS: [Operation; 3] = [Operation::Write, Operation::WriteVectored, Operation::Flush];

const FAILED: &str = "the write failed";
