//! What can go wrong before a single line was read, in words for the person who gave the file.
//!
//! Errors half-way through are not here: what was read by then is kept, and `Intake` says that the rest is missing.

use miette::Diagnostic;
use thiserror::Error;

use super::bounds::Exceeded;

/// Why nothing could be read.
#[derive(Debug, Error, Diagnostic)]
pub enum InputError {
    /// There is no such file.
    #[error("there is no file `{name}`")]
    #[diagnostic(
        code(comfy_triage::input::not_found),
        help("check the path; put it in quotes when it holds blanks, and use `-` to read from a pipe")
    )]
    NotFound { name: String },
    /// The path is a folder.
    #[error("`{name}` is a folder, not a log file")]
    #[diagnostic(
        code(comfy_triage::input::is_directory),
        help("give the log file itself, for example `user/comfyui.log` in the ComfyUI folder")
    )]
    IsDirectory { name: String },
    /// The system refuses to open the file.
    #[error("you may not read `{name}`")]
    #[diagnostic(
        code(comfy_triage::input::permission_denied),
        help("copy the log to a place that you may read, or change the permissions of the file")
    )]
    PermissionDenied { name: String },
    /// The file could not be opened for another reason.
    #[error("`{name}` cannot be opened")]
    #[diagnostic(
        code(comfy_triage::input::cannot_open),
        help("see the cause; copy the file to a local disk and try again if it stays so")
    )]
    CannotOpen {
        name: String,
        #[source]
        source: std::io::Error,
    },
    /// There is not a single byte.
    #[error("`{name}` is empty")]
    #[diagnostic(
        code(comfy_triage::input::empty),
        help("ComfyUI logs to stderr: redirect it too, as in `python main.py > comfy.log 2>&1`")
    )]
    Empty { name: String },
    /// A picture, an archive or a program: there is no text in it.
    #[error("`{name}` is a {format} file, not a log")]
    #[diagnostic(
        code(comfy_triage::input::binary),
        help(
            "copy the text of the console instead of a picture of it; of an archive, give the log that is packed in it"
        )
    )]
    Binary { name: String, format: &'static str },
    /// Reading failed at once.
    #[error("`{name}` cannot be read")]
    #[diagnostic(
        code(comfy_triage::input::cannot_read),
        help("see the cause; copy the file to a local disk and try again if it stays so")
    )]
    CannotRead {
        name: String,
        #[source]
        source: std::io::Error,
    },
    /// What was read twice was not the same.
    #[error("`{name}` changed while it was read: nothing of it is shown")]
    #[diagnostic(code(comfy_triage::input::changed), help("copy the log to another file, and give the copy"))]
    Changed { name: String },
    /// A `.zip` in a `.tar`, or the like.
    #[error("`{name}` is an archive inside an archive")]
    #[diagnostic(
        code(comfy_triage::input::archive_in_archive),
        help("unpack the outer one, and give the folder: archives in it are read")
    )]
    ArchiveInArchive { name: String },
    /// Already its beginning needs more than it may take.
    #[error("`{name}` needs more than it may take")]
    #[diagnostic(
        code(comfy_triage::input::too_large),
        help("see the cause; unpack the file yourself and give the plain text")
    )]
    TooLarge {
        name: String,
        #[source]
        source: Exceeded,
    },
    /// The file looks packed, but nothing of it can be unpacked.
    #[error("`{name}` looks like {format} data, but cannot be unpacked")]
    #[diagnostic(
        code(comfy_triage::input::corrupt),
        help("the file may be cut or damaged: copy it again, or unpack it yourself and give the plain text")
    )]
    Corrupt {
        name: String,
        format: &'static str,
        #[source]
        source: std::io::Error,
    },
}

impl InputError {
    /// Why nothing of a packed file could be read.
    pub(crate) fn packed(name: String, format: &'static str, source: std::io::Error) -> Self {
        match source.downcast::<Exceeded>() {
            Ok(source) => Self::TooLarge { name, source },
            Err(source) => Self::Corrupt { name, format, source },
        }
    }

    /// The error for a file that could not be opened.
    pub(crate) fn opening(name: String, source: std::io::Error) -> Self {
        match source.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => Self::NotFound { name },
            std::io::ErrorKind::IsADirectory => Self::IsDirectory { name },
            std::io::ErrorKind::PermissionDenied => Self::PermissionDenied { name },
            _ => Self::CannotOpen { name, source },
        }
    }
}
