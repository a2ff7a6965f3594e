//! Advice for HTTP/1.1 connections.

/// A size for the read buffer of an HTTP/1.1 connection that costs no page faults: 120 KiB.
///
/// hyper lets the read buffer of a connection grow to 408 KiB. glibc and musl map a buffer of
/// 128 KiB or more separately, and can return it to the kernel after each body. The next body then
/// faults the pages in again: 103 page faults for a body of 6 MiB with a warm pool. With this size
/// there are none, at the same CPU time. It is below 128 KiB, because the allocator adds its own
/// bookkeeping.
///
/// Pass it to `max_buf_size` of hyper's `http1::Builder`, or to `http1_max_buf_size` of hyper-util's
/// client. The heads of messages must fit into this buffer.
pub const HTTP1_MAX_BUF_SIZE: usize = 120 << 10;
