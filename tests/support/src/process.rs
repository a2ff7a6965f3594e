//! Servers that are programs of their own, started and stopped by a test.
//!
//! This module does not know what they serve.

use std::env;
use std::fs::{self, File};
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{self, Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Returns the program `name` on the PATH, or `None` if it is not installed. A test then has nothing to
/// do, and this is written to standard error.
///
/// # Panics
///
/// Panics if it is not installed and the variable `PRESIZED_REQUIRE_PEERS` is 1, as on machines that have
/// to run every test.
pub fn peer(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    // Debian has servers in this directory, which is not on the PATH of a normal user.
    let directories = env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    found(name, directories)
}

/// Returns the program `name` in the version that `.ci/peers/install` installs. Otherwise the same as
/// [`peer`].
///
/// These programs are in the directory that the variable `PRESIZED_PEERS` names, or else in
/// `target/peers`.
pub fn pinned_peer(name: &str) -> Option<PathBuf> {
    let directory = env::var_os("PRESIZED_PEERS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/peers"),
        PathBuf::from,
    );
    // The program may be started in another directory.
    let directory = path::absolute(directory).expect("a path that is not empty");
    found(name, [directory.join("bin")])
}

/// Returns the path of the example `name` of the package under test. Cargo builds all examples if it builds
/// all tests.
///
/// # Panics
///
/// Panics if the example is not built, because Cargo builds a single test without examples.
pub fn example(name: &str) -> PathBuf {
    let test = env::current_exe().expect("the path of the test");
    let target = test.parent().and_then(Path::parent).expect("the test is below `deps`");
    let example = target.join("examples").join(name).with_extension(env::consts::EXE_EXTENSION);
    assert!(
        example.exists(),
        "example {name} is not built: run cargo build --example {name} before a single test"
    );
    example
}

/// Writes to standard error that this test has nothing to do, and why.
///
/// # Panics
///
/// Panics if the variable `PRESIZED_REQUIRE_PEERS` is 1, as on machines that have to run every test.
pub fn skip(reason: &str) {
    let required = env::var_os("PRESIZED_REQUIRE_PEERS").is_some_and(|value| value == "1");
    assert!(!required, "{reason}");
    // Not with `eprintln!`, because the test harness hides its output if the test passes.
    let test = thread::current().name().unwrap_or("main").to_owned();
    let _ = writeln!(io::stderr(), "skipped: {reason} ({test})");
}

fn found(name: &str, directories: impl IntoIterator<Item = PathBuf>) -> Option<PathBuf> {
    let mut programs = directories.into_iter().map(|directory| directory.join(name));
    let found = programs.find(|program| program.is_file());
    if found.is_none() {
        skip(&format!("{name} is not installed"));
    }
    found
}

/// A server that runs in a directory of its own. Dropping it ends the server and removes the directory.
/// If the test failed, the output of the server is printed first.
#[derive(Debug)]
pub struct Process {
    // Fields are dropped in this order: the directory is removed after the process has ended.
    running: Running,
    directory: TempDir,
    ports: Vec<u16>,
}

impl Process {
    /// Starts a server on this many free ports of the loopback address, and waits until it
    /// listens.
    ///
    /// `prepare` gets the directory, which is empty, and the ports. It is called again with other ports
    /// if another process took one of them. `listening` is what the server writes to standard output or
    /// standard error when it listens. A connection could not show this, because it might reach another
    /// process.
    ///
    /// # Panics
    ///
    /// Panics with the output of the server if it does not listen within a minute.
    pub fn start(
        ports: usize,
        listening: &str,
        prepare: impl Fn(&Path, &[u16]) -> Command,
    ) -> Self {
        for _ in 0..ATTEMPTS {
            let directory = TempDir::new().expect("a temporary directory");
            let ports = free_ports(ports).expect("free ports");
            let command = prepare(directory.path(), &ports);
            let running = Running::spawn(command, directory.path().join("log"));
            let mut process = Self { running, directory, ports };
            if process.listens(listening) {
                return process;
            }
        }
        panic!("no server in {ATTEMPTS} attempts: its ports were always in use");
    }

    /// Returns the address of the port with this index.
    pub fn address(&self, number: usize) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.ports[number]).into()
    }

    /// Blocks until the port with this index accepts connections. Use it for a server that reports that it
    /// listens before it does.
    ///
    /// # Panics
    ///
    /// Panics if no connection is accepted within a minute.
    pub fn wait_for_port(&self, number: usize) {
        let (address, begin) = (self.address(number), Instant::now());
        while TcpStream::connect(address).is_err() {
            assert!(
                begin.elapsed() < START_TIMEOUT,
                "no connection to {address} within {START_TIMEOUT:?}"
            );
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Returns the directory of the server.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Returns what the server has written to standard output and standard error.
    pub fn log(&self) -> String {
        self.running.log()
    }

    /// Waits until the server listens. Returns false if another process took one of the ports.
    fn listens(&mut self, listening: &str) -> bool {
        let begin = Instant::now();
        while begin.elapsed() < START_TIMEOUT {
            // Before the log is read, so that the log of a server that has ended is complete.
            let exited = self.running.child.try_wait().expect("a child of our own");
            let log = self.log();
            match exited {
                None if log.contains(listening) => return true,
                None => thread::sleep(Duration::from_millis(5)),
                Some(_) if log.to_ascii_lowercase().contains("address already in use") => {
                    return false;
                }
                Some(status) => panic!("the server ended with {status}"),
            }
        }
        panic!("the server did not write {listening:?} within {START_TIMEOUT:?}");
    }
}

#[derive(Debug)]
struct Running {
    child: Child,
    log: PathBuf,
}

impl Running {
    fn spawn(mut command: Command, log: PathBuf) -> Self {
        let output = File::create(&log).expect("a file in a directory of our own");
        let both = output.try_clone().expect("a second handle");
        let child = command.stdin(Stdio::null()).stdout(output).stderr(both).spawn();
        let child = child.unwrap_or_else(|error| panic!("{command:?}: {error}"));
        Self { child, log }
    }

    fn log(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.log).unwrap_or_default()).into_owned()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Fails only if the process has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            eprintln!("log of the server:\n{}", self.log());
        }
    }
}

/// Returns different ports on which no process listens.
fn free_ports(count: usize) -> io::Result<Vec<u16>> {
    // All listeners stay open until all ports are known, so that no port is returned twice.
    let listeners = (0..count)
        .map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))
        .collect::<io::Result<Vec<_>>>()?;
    listeners.iter().map(|listener| Ok(listener.local_addr()?.port())).collect()
}

const ATTEMPTS: usize = 5;

/// Servers on Node.js or Python take seconds to start, and many seconds on a busy machine.
const START_TIMEOUT: Duration = Duration::from_secs(60);
