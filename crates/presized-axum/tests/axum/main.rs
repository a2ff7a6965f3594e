//! The extractors on real axum servers.

mod curl;
mod discard;
mod extract;
mod limits;
mod load;
mod server;
mod slow;
