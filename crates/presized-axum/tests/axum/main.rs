//! The extractors on real axum servers.

// The curl of other systems is another one.
#[cfg(target_os = "linux")]
mod curl;
mod discard;
mod extract;
mod limits;
mod load;
mod server;
mod slow;
