//! The destination of the response.

use std::fs::{self, File, Permissions};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempPath;
use tokio::io::{AsyncWrite, AsyncWriteExt};

use crate::failure::Failure;

/// Standard output or a file. Writing does not block the connection.
pub(crate) struct Output {
    sink: Box<dyn AsyncWrite + Unpin>,
    /// The temporary file and the path that it replaces when it is complete.
    replacement: Option<(TempPath, PathBuf)>,
}

impl Output {
    /// Checks that the file can be written, without changing it.
    pub(crate) fn open(path: Option<&Path>) -> io::Result<Self> {
        let Some(path) = path else {
            return Ok(Self { sink: Box::new(tokio::io::stdout()), replacement: None });
        };
        match File::options().write(true).open(path) {
            Ok(file) => {
                let metadata = file.metadata()?;
                if metadata.is_file() {
                    // The target of a symbolic link is replaced, not the link.
                    return Self::beside(fs::canonicalize(path)?, Some(metadata.permissions()));
                }
                // A device or a pipe is written to and not replaced.
                Ok(Self { sink: Box::new(tokio::fs::File::from_std(file)), replacement: None })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Self::beside(path.to_owned(), None)
            }
            Err(error) => Err(error),
        }
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.sink.write_all(bytes).await.map_err(Failure::Write)?;
        // A reader of a stream needs each chunk at once.
        self.sink.flush().await.map_err(Failure::Write)
    }

    /// Completes the output.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        // Windows does not rename a file that is open.
        drop(self.sink);
        match self.replacement {
            Some((written, path)) => {
                written.persist(path).map_err(|error| Failure::Write(error.error))
            }
            None => Ok(()),
        }
    }

    /// Opens a temporary file in the directory of `path`, so that a rename can replace it. It is
    /// removed unless it is complete.
    fn beside(path: PathBuf, permissions: Option<Permissions>) -> io::Result<Self> {
        let directory = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".invoke-").suffix(".part");
        // The mode of a new file. Temporary files have a stricter one by default.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let (file, written) = builder.tempfile_in(directory)?.into_parts();
        if let Some(permissions) = permissions {
            file.set_permissions(permissions)?;
        }
        let sink = Box::new(tokio::fs::File::from_std(file));
        Ok(Self { sink, replacement: Some((written, path)) })
    }
}
