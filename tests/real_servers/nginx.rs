//! A running nginx. All its files are in a temporary directory.

use std::fs;
use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;
use presized_support::process::{Process, peer};

use crate::client::{Connection, Version};
use crate::content;

pub(crate) struct Nginx(Process);

impl Nginx {
    /// Starts nginx, or returns `None` if it is not installed.
    pub(crate) fn start() -> Option<Self> {
        Self::in_front_of("")
    }

    /// Starts nginx with the paths `/buffered` and `/unbuffered`, which proxy `upstream`.
    pub(crate) fn before(upstream: SocketAddr) -> Option<Self> {
        Self::in_front_of(&format!(
            "proxy_http_version 1.1;
             location /buffered {{ proxy_pass http://{upstream}; }}
             location /unbuffered {{ proxy_buffering off; proxy_pass http://{upstream}; }}"
        ))
    }

    fn in_front_of(proxied: &str) -> Option<Self> {
        let program = peer("nginx")?;
        let http2 = Http2::of(&program);
        // nginx logs this once its ports are open.
        let process = Process::start(2, "event method", |directory, ports| {
            write_content(&directory.join("www"));
            fs::write(directory.join("nginx.conf"), config(ports, http2)).unwrap();
            fs::write(directory.join("locations.conf"), format!("{LOCATIONS}{proxied}")).unwrap();
            let mut command = Command::new(&program);
            // Without `-e`, nginx opens the log file that is compiled in first.
            command.arg("-p").arg(directory).args(["-c", "nginx.conf", "-e", "stderr"]);
            command
        });
        Some(Self(process))
    }

    pub(crate) fn address(&self, version: Version) -> SocketAddr {
        self.0.address(match version {
            Version::Http1 => 0,
            Version::Http2 => 1,
        })
    }

    pub(crate) async fn connect(&self, version: Version) -> Connection {
        Connection::open(self.address(version), version).await
    }
}

/// The syntax that enables HTTP/2 without TLS.
#[derive(Clone, Copy)]
enum Http2 {
    /// An option of `listen`. The port then accepts only HTTP/2.
    Option,
    /// A directive, since 1.25.1. The option causes a warning there.
    Directive,
}

impl Http2 {
    fn of(nginx: &Path) -> Self {
        let output = Command::new(nginx).arg("-v").output().unwrap().stderr;
        let output = String::from_utf8_lossy(&output);
        // The output is "nginx version: nginx/1.22.1", and on some systems more after it.
        let version = output.trim().rsplit_once("nginx/").map_or("", |(_, version)| version);
        let version: Vec<u32> = version
            .split(|c: char| !c.is_ascii_digit())
            .map_while(|number| number.parse().ok())
            .take(3)
            .collect();
        if version >= vec![1, 25, 1] { Self::Directive } else { Self::Option }
    }
}

/// Returns the configuration of one process in the foreground, run by the user of the test. Paths are
/// relative to the directory of the server.
fn config(ports: &[u16], http2: Http2) -> String {
    let (option, directive) = match http2 {
        Http2::Option => (" http2", ""),
        Http2::Directive => ("", "http2 on;"),
    };
    let (first, second) = (ports[0], ports[1]);
    format!(
        "daemon off;
         master_process off;
         pid pid;
         error_log stderr notice;
         events {{}}
         http {{
             access_log off;
             client_body_temp_path temporary/body;
             proxy_temp_path temporary/proxy;
             fastcgi_temp_path temporary/fastcgi;
             scgi_temp_path temporary/scgi;
             uwsgi_temp_path temporary/uwsgi;
             types {{ text/plain txt; }}
             server {{ listen 127.0.0.1:{first}; include locations.conf; }}
             server {{ listen 127.0.0.1:{second}{option}; {directive} include locations.conf; }}
         }}"
    )
}

const LOCATIONS: &str = "
    root www;
    location /gzip/ { gzip on; gzip_types text/plain; }
    location /gzip-static/ { gzip_static on; }
    location /trailers/ { add_trailer x-sum 1234; }
    location = /no-content { return 204; }
    location = /unavailable { return 503 'no backend is available at the moment'; }
";

pub(crate) const MIB: u64 = 1 << 20;

/// The sizes of the files in bytes. Each file is named after its size.
pub(crate) const SIZES: [u64; 4] = [0, 1, MIB, 6 * MIB];

/// Returns the content of `text.txt`: 200 kB that compress well.
pub(crate) fn text() -> String {
    (0..10_000).map(|line| format!("this is line {line:06}\n")).collect()
}

pub(crate) fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn write_content(www: &Path) {
    for directory in ["gzip", "gzip-static", "trailers"] {
        fs::create_dir_all(www.join(directory)).unwrap();
        fs::write(www.join(directory).join("text.txt"), text()).unwrap();
    }
    fs::create_dir(www.join("../temporary")).unwrap();
    fs::write(www.join("text.txt"), text()).unwrap();
    fs::write(www.join("gzip-static/text.txt.gz"), gzip(text().as_bytes())).unwrap();
    for size in SIZES {
        fs::write(www.join(size.to_string()), content(size)).unwrap();
    }
}
