//! The head of a zstd frame (RFC 8878 §3.1.1.1 and §3.1.2). Pure.

/// What the head of a frame says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ZstdHead {
    /// A frame with content.
    Frame {
        /// Bytes of the window.
        window: u64,
        /// Bytes of content, if the head has them.
        content: Option<u64>,
        has_dictionary: bool,
    },
    /// A frame to skip, with this many bytes after its head.
    Skippable(u32),
}

/// The first bytes are not those of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotZstd;

/// The length of the longest head.
pub(crate) const HEAD_MAX: usize = 18;

const MAGIC: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();
/// The lowest four bits of the first byte can have any value.
const SKIPPABLE: [u8; 4] = 0x184d_2a50_u32.to_le_bytes();

impl ZstdHead {
    /// Reads a head. Returns `None` if `head` is only the beginning of one.
    pub(crate) fn read(head: &[u8]) -> Result<Option<Self>, NotZstd> {
        let begins = |magic: [u8; 4], mask: u8| {
            let equal = |(&byte, (index, magic)): (&u8, (usize, &u8))| {
                byte & if index == 0 { mask } else { 0xff } == *magic
            };
            head.iter().zip(magic.iter().enumerate()).all(equal)
        };
        if begins(SKIPPABLE, 0xf0) {
            return Ok(head.get(4..8).map(|length| Self::Skippable(integer(length) as u32)));
        }
        if !begins(MAGIC, 0xff) {
            return Err(NotZstd);
        }
        let Some(&descriptor) = head.get(MAGIC.len()) else { return Ok(None) };
        let is_single_segment = descriptor >> 5 & 1 == 1;
        let window_len = usize::from(!is_single_segment);
        let dictionary_len = [0, 1, 2, 4][usize::from(descriptor & 3)];
        let content_len = match descriptor >> 6 {
            0 => usize::from(is_single_segment),
            power => 1 << power,
        };
        let dictionary_at = MAGIC.len() + 1 + window_len;
        let content_at = dictionary_at + dictionary_len;
        let Some(content) = head.get(content_at..content_at + content_len) else { return Ok(None) };
        let content = match content_len {
            0 => None,
            2 => Some(integer(content) + 256),
            _ => Some(integer(content)),
        };
        let window = match content {
            Some(content) if is_single_segment => content,
            _ => {
                let descriptor = head[MAGIC.len() + 1];
                let base = 1_u64 << (10 + (descriptor >> 3));
                base + base / 8 * u64::from(descriptor & 7)
            }
        };
        let has_dictionary = integer(&head[dictionary_at..content_at]) != 0;
        Ok(Some(Self::Frame { window, content, has_dictionary }))
    }
}

/// Reads a little-endian integer of up to eight bytes.
fn integer(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(window: u64, content: Option<u64>, has_dictionary: bool) -> ZstdHead {
        ZstdHead::Frame { window, content, has_dictionary }
    }

    #[test]
    fn head_tells_window_content_and_dictionary() {
        let table: [(&[u8], ZstdHead); 11] = [
            // after the magic number: descriptor, window, dictionary, content
            (&[0x00, 0x00], frame(1 << 10, None, false)),
            (&[0x00, 0x68], frame(8 << 20, None, false)),
            (&[0x00, 0x69], frame(9 << 20, None, false)),
            (&[0x00, 0xff], frame(15 << 38, None, false)),
            (&[0x20, 0x05], frame(5, Some(5), false)),
            (&[0x40, 0x00, 0x00, 0x01], frame(1 << 10, Some(512), false)),
            (&[0x60, 0x00, 0x00], frame(256, Some(256), false)),
            (&[0xa0, 0x00, 0x00, 0x80, 0x00], frame(8 << 20, Some(8 << 20), false)),
            (&[0xe0, 0, 0, 0, 0, 0, 0, 0, 0x80], frame(1 << 63, Some(1 << 63), false)),
            (&[0x21, 0x00, 0x05], frame(5, Some(5), false)),
            (&[0x02, 0x00, 0x00, 0x01], frame(1 << 10, None, true)),
        ];
        for (bytes, expected) in table {
            let head = [&MAGIC, bytes].concat();
            assert!(head.len() <= HEAD_MAX);
            assert_eq!(ZstdHead::read(&head), Ok(Some(expected)), "{bytes:02x?}");
            for len in 0..head.len() {
                assert_eq!(ZstdHead::read(&head[..len]), Ok(None), "{bytes:02x?} {len}");
            }
        }
    }

    #[test]
    fn skippable_frames_have_sixteen_magic_numbers() {
        for first in 0x50..=0x5f {
            let head = [first, 0x2a, 0x4d, 0x18, 1, 0, 0, 0x80];
            assert_eq!(ZstdHead::read(&head), Ok(Some(ZstdHead::Skippable(0x8000_0001))));
            assert_eq!(ZstdHead::read(&head[..7]), Ok(None));
        }
    }

    #[test]
    fn other_bytes_are_refused_at_the_first_that_differs() {
        for head in [&[0x29][..], &[0x60], &[0x28, 0xb6], &[0x50, 0x2b], &[0x27, 0xb5, 0x2f, 0xfd]]
        {
            assert_eq!(ZstdHead::read(head), Err(NotZstd), "{head:02x?}");
        }
    }
}
