//! Servers that are programs of their own, which a test starts and stops.
//!
//! What they serve and how a test talks to them is the test's business.

use std::env;
use std::fs::{self, File};
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{self, Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// The program `name` on the PATH, for a test that has nothing to do where it is not
/// installed. Then this says so on standard error.
///
/// # Panics
///
/// Where it is not installed and the variable `PRESIZED_REQUIRE_PEERS` is 1, as on
/// machines that are meant to run every test.
pub fn peer(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    // Where Debian has servers, and what the PATH of a normal user leaves out.
    let directories = env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    found(name, directories)
}

/// The program `name` of those that `.ci/peers/install` installs, in the version that is
/// fixed there; otherwise the same as [`peer`].
///
/// They are in the directory that the variable `PRESIZED_PEERS` names, or else in
/// `target/peers`.
pub fn pinned_peer(name: &str) -> Option<PathBuf> {
    let directory = env::var_os("PRESIZED_PEERS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/peers"),
        PathBuf::from,
    );
    // Since a program can be started in another directory than this.
    let directory = path::absolute(directory).expect("a path that is not empty");
    found(name, [directory.join("bin")])
}

/// The example `name` of the package under test, where Cargo puts it, which builds all examples
/// along with all tests.
///
/// # Panics
///
/// Where it is not built: a single test is built without it.
pub fn example(name: &str) -> PathBuf {
    let test = env::current_exe().expect("the path of the test");
    let target = test.parent().and_then(Path::parent).expect("the test is below `deps`");
    let example = target.join("examples").join(name).with_extension(env::consts::EXE_EXTENSION);
    assert!(
        example.exists(),
        "to be built before a single test: cargo build --all-features --example {name}"
    );
    example
}

/// Says on standard error that this test has nothing to do, and why.
///
/// # Panics
///
/// Where the variable `PRESIZED_REQUIRE_PEERS` is 1, as on machines that are meant to run
/// every test.
pub fn skip(reason: &str) {
    let required = env::var_os("PRESIZED_REQUIRE_PEERS").is_some_and(|value| value == "1");
    assert!(!required, "{reason}");
    // Not by a macro: of those the test harness shows nothing when the test passes.
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

/// A server that runs in a directory of its own until this is dropped, which removes both.
/// If the test has failed, what the server has written is printed before.
#[derive(Debug)]
pub struct Process {
    // In this order: the directory goes when the process is gone.
    running: Running,
    directory: TempDir,
    ports: Vec<u16>,
}

impl Process {
    /// Starts a server on this many free ports of the loopback address, and waits until it
    /// listens.
    ///
    /// `prepare` gets the directory, which is empty, and the ports. It can be called again
    /// with others, since nobody can keep a port free for another process. `listening` is
    /// what the server writes to standard output or standard error once it listens; a
    /// connection would not tell who answers it.
    ///
    /// # Panics
    ///
    /// When the server does not listen within a minute, with what it has written.
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

    /// Where the server listens on its port of this number.
    pub fn address(&self, number: usize) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.ports[number]).into()
    }

    /// Blocks until connections are accepted on its port of this number, where a server says
    /// that it listens before it does.
    ///
    /// # Panics
    ///
    /// When none is accepted within a minute.
    pub fn wait_for_port(&self, number: usize) {
        let (address, begin) = (self.address(number), Instant::now());
        while TcpStream::connect(address).is_err() {
            assert!(begin.elapsed() < START_TIMEOUT, "nobody listens on {address}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// The directory that the server has.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// What the server has written to standard output and standard error.
    pub fn log(&self) -> String {
        self.running.log()
    }

    /// False means that one of the ports was taken in the meantime.
    fn listens(&mut self, listening: &str) -> bool {
        let begin = Instant::now();
        while begin.elapsed() < START_TIMEOUT {
            // Asked before the log, so that a log without the word is the last one.
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
        panic!("the server does not say {listening:?} within {START_TIMEOUT:?}");
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
        // Fails only for a process that has ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            eprintln!("log of the server:\n{}", self.log());
        }
    }
}

/// Ports that nobody listens on, all different.
fn free_ports(count: usize) -> io::Result<Vec<u16>> {
    // All are held until all are known.
    let listeners = (0..count)
        .map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))
        .collect::<io::Result<Vec<_>>>()?;
    listeners.iter().map(|listener| Ok(listener.local_addr()?.port())).collect()
}

const ATTEMPTS: usize = 5;

/// What runs on Node.js or Python takes seconds, and many of them on a busy machine.
const START_TIMEOUT: Duration = Duration::from_secs(60);
