//! The builder of an emulator.

use std::collections::BTreeMap;
use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};

use presized::{BufferPool, HTTP1_MAX_BUF_SIZE};
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use crate::deployed::Deployed;
use crate::invoke_api::{self, Functions};
use crate::names::is_function_name;
use crate::serve::serve;
use crate::{Emulator, Function, runtime_api};

/// Builds an [`Emulator`] with its functions.
#[derive(Clone, Debug, Default)]
#[must_use = "an emulator serves nothing until it is started"]
pub struct EmulatorBuilder {
    functions: BTreeMap<String, Function>,
}

impl EmulatorBuilder {
    /// Adds a function, or replaces the function of the same name.
    ///
    /// A name has 1 to 64 letters, digits, `-` and `_`
    /// (<https://docs.aws.amazon.com/lambda/latest/api/API_CreateFunction.html>, `FunctionName`).
    pub fn function(mut self, name: impl Into<String>, function: Function) -> Self {
        self.functions.insert(name.into(), function);
        self
    }

    /// Starts to serve on free ports of 127.0.0.1.
    ///
    /// The emulator runs in tasks of the current tokio runtime.
    ///
    /// # Errors
    ///
    /// Returns [`InvalidInput`](io::ErrorKind::InvalidInput) if a function name is invalid, or the
    /// error of the operating system if a socket cannot be opened.
    ///
    /// # Panics
    ///
    /// Panics outside a tokio runtime, or in a tokio runtime without I/O or timer.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the sockets that it has opened.
    pub async fn start(self) -> io::Result<Emulator> {
        let pool = BufferPool::new(IDLE_BYTES);
        let mut tasks = JoinSet::new();
        let mut functions = Functions::new();
        let mut runtime_apis = BTreeMap::new();
        for (name, options) in self.functions {
            if !is_function_name(&name) {
                let error = format!(
                    "{name:?} is not a function name: use 1 to 64 letters, digits, '-' and '_'"
                );
                return Err(io::Error::new(io::ErrorKind::InvalidInput, error));
            }
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
            runtime_apis.insert(name.clone(), listener.local_addr()?);
            let function = Arc::new(Deployed::new(name.clone(), options, pool.clone()));
            tasks.spawn(Arc::clone(&function).expire());
            tasks.spawn(runtime_api::serve_function(listener, Arc::clone(&function)));
            functions.insert(name, function);
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let functions = Arc::new(functions);
        let served = Arc::clone(&functions);
        tasks.spawn(serve(listener, HTTP1_MAX_BUF_SIZE, move || {
            let functions = Arc::clone(&served);
            move |request| invoke_api::respond(Arc::clone(&functions), request)
        }));
        Ok(Emulator {
            address,
            functions,
            runtime_apis,
            tokio: Handle::current(),
            tasks: Mutex::new(tasks),
        })
    }
}

/// The bytes that the pool keeps between calls: 16 events and 16 responses of the maximum length.
const IDLE_BYTES: u64 = 192 << 20;
