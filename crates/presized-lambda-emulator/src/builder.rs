//! What an emulator is started with.

use std::collections::BTreeMap;
use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};

use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use super::deployed::Deployed;
use super::invoke_api::{self, Functions};
use super::names::is_name;
use super::serve::serve;
use super::{Emulator, Function, runtime_api};
use presized::BufferPool;

/// The functions of an [`Emulator`] that is to be.
#[derive(Clone, Debug, Default)]
#[must_use = "nothing is served until it is started"]
pub struct EmulatorBuilder {
    functions: BTreeMap<String, Function>,
}

impl EmulatorBuilder {
    /// Adds a function, in the place of one that has the same name. A name is 1 to 64 letters,
    /// digits, `-` and `_`
    /// (<https://docs.aws.amazon.com/lambda/latest/api/API_CreateFunction.html>, `FunctionName`).
    pub fn function(mut self, name: impl Into<String>, function: Function) -> Self {
        self.functions.insert(name.into(), function);
        self
    }

    /// Starts to serve, on free ports of 127.0.0.1 and in the tokio runtime that this is called
    /// from.
    ///
    /// # Errors
    ///
    /// Where a name is not that of a function
    /// ([`InvalidInput`](io::ErrorKind::InvalidInput)), or there are no sockets to be had.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes what it has opened.
    ///
    /// # Panics
    ///
    /// Outside a runtime of tokio, or in one without its I/O and timer enabled.
    pub async fn start(self) -> io::Result<Emulator> {
        let pool = BufferPool::new(IDLE_BYTES);
        let mut tasks = JoinSet::new();
        let mut functions = Functions::new();
        let mut runtime_apis = BTreeMap::new();
        for (name, options) in self.functions {
            if !is_name(&name) {
                let error = format!("{name:?} is not the name of a function");
                return Err(io::Error::new(io::ErrorKind::InvalidInput, error));
            }
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
            runtime_apis.insert(name.clone(), listener.local_addr()?);
            let function = Arc::new(Deployed::new(name.clone(), options, pool.clone()));
            tasks.spawn(Arc::clone(&function).expire());
            let served = Arc::clone(&function);
            tasks.spawn(serve(listener, move |request| {
                runtime_api::respond(Arc::clone(&served), request)
            }));
            functions.insert(name, function);
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let functions = Arc::new(functions);
        let served = Arc::clone(&functions);
        tasks.spawn(serve(listener, move |request| {
            invoke_api::respond(Arc::clone(&served), request)
        }));
        Ok(Emulator {
            address,
            functions,
            runtime_apis,
            runtime: Handle::current(),
            tasks: Mutex::new(tasks),
        })
    }
}

/// 16 events and 16 answers of the largest size, which are kept from one call to the next.
const IDLE_BYTES: u64 = 192 << 20;
