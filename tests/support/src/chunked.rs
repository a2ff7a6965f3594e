//! A strict parser of the chunked transfer coding (RFC 9112 §7.1).

/// A chunked body.
#[derive(Debug, PartialEq, Eq)]
pub struct Chunked<'a> {
    /// The content of the chunks.
    pub content: Vec<u8>,
    /// The trailer section, with the empty line that ends it.
    pub trailers: &'a [u8],
    /// The bytes after the body.
    pub rest: &'a [u8],
}

/// Splits the chunked body at the beginning of `wire`. Returns `None` if it is incomplete or invalid.
pub fn split(wire: &[u8]) -> Option<Chunked<'_>> {
    let mut content = Vec::new();
    let mut rest = wire;
    loop {
        let (size, after) = line(rest)?;
        let size = std::str::from_utf8(size).ok()?.split(';').next()?;
        let size = usize::from_str_radix(size, 16).ok()?;
        if size == 0 {
            rest = after;
            loop {
                let (field, behind) = line(rest)?;
                rest = behind;
                if field.is_empty() {
                    let (trailers, rest) = after.split_at(after.len() - rest.len());
                    return Some(Chunked { content, trailers, rest });
                }
            }
        }
        content.extend_from_slice(after.get(..size)?);
        rest = after.get(size..)?.strip_prefix(b"\r\n")?;
    }
}

fn line(wire: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = wire.windows(2).position(|pair| pair == b"\r\n")?;
    Some((&wire[..end], &wire[end + 2..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn body_ends_after_its_trailers() {
        let wire = b"1\r\na\r\nA;x=y\r\n0123456789\r\n0\r\nx: y\r\n\r\nGET";
        let expected =
            Chunked { content: b"a0123456789".to_vec(), trailers: b"x: y\r\n\r\n", rest: b"GET" };
        assert_eq!(split(wire), Some(expected));
        for end in 0..wire.len() - 3 {
            assert_eq!(split(&wire[..end]), None, "{end}");
        }
    }
}
