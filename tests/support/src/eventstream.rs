//! A simple encoder of `application/vnd.amazon.eventstream` frames
//! (<https://smithy.io/2.0/aws/amazon-eventstream.html>).

/// A `PayloadChunk` event with the bytes `abc`.
pub const CHUNK: &str = "\
    0000006d0000005a8f3ed47f0d3a6d6573736167652d747970650700056576656e740b3a6576656e742d747970\
    6507000c5061796c6f61644368756e6b0d3a636f6e74656e742d747970650700186170706c69636174696f6e2f\
    6f637465742d73747265616d616263a3e12624";

/// An `InvokeComplete` event with the payload `{}`.
pub const DONE_OK: &str = "\
    00000066000000541f56c8690d3a6d6573736167652d747970650700056576656e740b3a6576656e742d747970\
    6507000e496e766f6b65436f6d706c6574650d3a636f6e74656e742d747970650700106170706c69636174696f\
    6e2f6a736f6e7b7dface259a";

/// An `InvokeComplete` event with `ErrorCode` `Runtime.Broken` and `ErrorDetails` `x`.
pub const DONE_ERR: &str = "\
    000000950000005410c2e2e40d3a6d6573736167652d747970650700056576656e740b3a6576656e742d747970\
    6507000e496e766f6b65436f6d706c6574650d3a636f6e74656e742d747970650700106170706c69636174696f\
    6e2f6a736f6e7b224572726f72436f6465223a2252756e74696d652e42726f6b656e222c224572726f72446574\
    61696c73223a2278227deb7305cc";

/// A `ServiceException` with the message `x`.
pub const EXCEPTION: &str = "\
    0000007d0000005ee8b387e40d3a6d6573736167652d74797065070009657863657074696f6e0f3a6578636570\
    74696f6e2d7479706507001053657276696365457863657074696f6e0d3a636f6e74656e742d74797065070010\
    6170706c69636174696f6e2f6a736f6e7b224d657373616765223a2278227d81e661f8";

/// Decodes hexadecimal digits.
///
/// # Panics
///
/// Panics if `text` is not hexadecimal.
pub fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> =
        text.chars().map(|digit| digit.to_digit(16).expect("a hexadecimal digit")).collect();
    digits.chunks_exact(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect()
}

/// Encodes a frame whose headers are strings.
pub fn frame(headers: &[(&str, &str)], payload: &[u8]) -> Vec<u8> {
    let mut section = Vec::new();
    for (name, value) in headers {
        section.push(u8::try_from(name.len()).expect("a short name"));
        section.extend_from_slice(name.as_bytes());
        section.push(7);
        section.extend_from_slice(&u16::try_from(value.len()).expect("short").to_be_bytes());
        section.extend_from_slice(value.as_bytes());
    }
    let total = u32::try_from(16 + section.len() + payload.len()).expect("a length of four bytes");
    let mut frame = prelude(total, section.len() as u32).to_vec();
    frame.extend_from_slice(&section);
    frame.extend_from_slice(payload);
    let checksum = crc32(&frame);
    frame.extend_from_slice(&checksum.to_be_bytes());
    frame
}

/// Encodes the prelude of a frame of `total` bytes, of which `headers` bytes are headers.
pub fn prelude(total: u32, headers: u32) -> [u8; 12] {
    let mut prelude = [0; 12];
    prelude[..4].copy_from_slice(&total.to_be_bytes());
    prelude[4..8].copy_from_slice(&headers.to_be_bytes());
    let checksum = crc32(&prelude[..8]);
    prelude[8..].copy_from_slice(&checksum.to_be_bytes());
    prelude
}

/// Encodes an event of this type.
pub fn event(event_type: &str, payload: impl AsRef<[u8]>) -> Vec<u8> {
    frame(&[(":message-type", "event"), (":event-type", event_type)], payload.as_ref())
}

/// Encodes a `PayloadChunk` event.
pub fn chunk(payload: impl AsRef<[u8]>) -> Vec<u8> {
    event("PayloadChunk", payload)
}

/// Encodes an `InvokeComplete` event.
pub fn complete(json: &str) -> Vec<u8> {
    event("InvokeComplete", json)
}

/// Computes the CRC-32 of gzip (RFC 1952 §8), bit by bit.
fn crc32(data: &[u8]) -> u32 {
    !data.iter().fold(!0, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 }
        })
    })
}
