//! The function process: one adapter, and a router that returns the body of its request.

use std::thread;

use axum::Router;
use axum::routing::post;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use presized_benches::child;
use presized_support::client::Error;
use presized_support::meter::{Side, pin, process_cpu};
use serde::{Deserialize, Serialize};
use tokio::runtime::Builder;
use tokio::sync::oneshot;

use crate::{Cell, Party};

/// The work of one function process.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) party: Party,
    pub(crate) cell: Cell,
}

/// The command that a function process replies to with its CPU time in seconds, since it began.
pub(crate) const COST: &str = "cost";

/// Serves until the input for commands is closed.
pub(crate) fn serve(Job { party, cell }: Job) -> Result<(), Error> {
    pin(Side::Client);
    let (end, ended) = oneshot::channel();
    thread::Builder::new().name("commands".to_owned()).spawn(move || {
        let served = child::serve(|command| match command {
            COST => Ok(child::numbers([process_cpu().as_secs_f64()])),
            _ => Err(format!("unknown command: {command}").into()),
        });
        // The receiver is gone if the function ended by itself.
        let _ = end.send(());
        served.map_err(|error| error.to_string())
    })?;
    let mut runtime = if cell.current_thread {
        Builder::new_current_thread()
    } else {
        Builder::new_multi_thread()
    };
    runtime.enable_all().build()?.block_on(async {
        tokio::select! {
            served = invocations(party) => served,
            _ = ended => Ok(()),
        }
    })
}

async fn invocations(party: Party) -> Result<(), Error> {
    let echo = async |body: Bytes| ([(CONTENT_TYPE, "application/json")], body);
    let app = Router::new().route("/cats", post(echo)).route("/prod/cats", post(echo));
    match party {
        // Its `run_concurrent` needs bodies that are `Sync`, which those of axum are not.
        Party::Peer => lambda_http::run(app).await,
        Party::Presized => {
            Ok(presized_lambda_runtime::run(presized_lambda_runtime::http(app)).await?)
        }
    }
}
