//! Tests of decoded bodies: every coding, alone and in a row, in any frames, whole and broken, and
//! the memory that the decoders take.

mod broken;
mod heads;
#[cfg(feature = "tower")]
mod layer;
mod members;
mod memory;
mod polls;
mod stacks;
mod whole;

use std::io::Write;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use http_body::Body;
use http_body_util::BodyExt;
use presized_decode::{Coding, Codings, Decode, DecodeError};
use presized_support::ledger::Ledger;
use presized_support::mock::Mock;

/// Counts the allocations of the tests in `memory`.
#[global_allocator]
static LEDGER: Ledger = Ledger;

/// Returns a client of reqwest that passes coded bodies on, whatever the features of reqwest are.
fn reqwest() -> reqwest::ClientBuilder {
    // With the other members of the workspace, reqwest has TLS, and needs a provider for it. An error
    // means that another test has installed it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().no_gzip().no_deflate().no_brotli().no_zstd()
}

/// The coded forms of the tests. Two of them are named `deflate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Gzip,
    Zlib,
    RawDeflate,
    Brotli,
    Zstd,
}

impl Form {
    const ALL: [Self; 5] = [Self::Gzip, Self::Zlib, Self::RawDeflate, Self::Brotli, Self::Zstd];

    fn coding(self) -> Coding {
        match self {
            Self::Gzip => Coding::Gzip,
            Self::Zlib | Self::RawDeflate => Coding::Deflate,
            Self::Brotli => Coding::Brotli,
            Self::Zstd => Coding::Zstd,
        }
    }

    /// Returns the coded form of `content`, as its usual encoder makes it.
    fn code(self, content: &[u8]) -> Vec<u8> {
        let level = Compression::default();
        match self {
            Self::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), level);
                encoder.write_all(content).unwrap();
                encoder.finish().unwrap()
            }
            Self::Zlib => {
                let mut encoder = ZlibEncoder::new(Vec::new(), level);
                encoder.write_all(content).unwrap();
                encoder.finish().unwrap()
            }
            Self::RawDeflate => {
                let mut encoder = DeflateEncoder::new(Vec::new(), level);
                encoder.write_all(content).unwrap();
                encoder.finish().unwrap()
            }
            Self::Brotli => brotli(content, 5, 22),
            Self::Zstd => zstd(content, true),
        }
    }
}

fn brotli(content: &[u8], quality: u32, window_bits: u32) -> Vec<u8> {
    let mut encoder = ::brotli::CompressorWriter::new(Vec::new(), 4096, quality, window_bits);
    encoder.write_all(content).unwrap();
    encoder.into_inner()
}

/// Codes one frame, which has its size, and a checksum if `has_checksum`.
fn zstd(content: &[u8], has_checksum: bool) -> Vec<u8> {
    let mut context = zstd_safe::CCtx::create();
    context.set_parameter(zstd_safe::CParameter::ChecksumFlag(has_checksum)).unwrap();
    let mut frame = vec![0; zstd_safe::compress_bound(content.len())];
    let len = context.compress2(&mut frame[..], content).unwrap();
    frame.truncate(len);
    frame
}

/// Returns content that all encoders make smaller, and that is not one long run.
fn text(len: usize) -> Vec<u8> {
    let words = ["content ", "coding ", "window ", "frame ", "member ", "body\n"];
    let mut random = fastrand::Rng::with_seed(7);
    let mut text = Vec::with_capacity(len + 8);
    while text.len() < len {
        text.extend_from_slice(words[random.usize(..words.len())].as_bytes());
    }
    text.truncate(len);
    text
}

/// Reads a body to its end or to its error. Returns what it delivered in both cases.
async fn read<B>(body: B) -> (Vec<u8>, Result<(), B::Error>)
where
    B: Body<Data = Bytes>,
{
    let mut body = std::pin::pin!(body);
    let mut content = Vec::new();
    while let Some(frame) = body.frame().await {
        match frame {
            Ok(frame) => {
                if let Ok(data) = frame.into_data() {
                    assert!(data.len() <= 64 << 10, "{}", data.len());
                    content.extend_from_slice(&data);
                }
            }
            Err(error) => {
                assert!(body.frame().await.is_none(), "a frame after the error");
                return (content, Err(error));
            }
        }
    }
    (content, Ok(()))
}

/// Decodes `coded`, delivered in frames of `size` bytes.
async fn decode(
    codings: impl Into<Codings>,
    coded: &[u8],
    size: usize,
) -> (Vec<u8>, Result<(), DecodeError>) {
    read(Decode::new(codings, Mock::of(coded.chunks(size)))).await
}
