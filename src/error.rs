//! What can be wrong with a call of the program, in words for the person who typed it.
//!
//! Faults of a log are in `input`, faults of a rule pack in `rule`; both are shown the same way.

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme};
use thiserror::Error;

/// A call that cannot be answered.
#[derive(Debug, Error, Diagnostic)]
pub enum UsageError {
    /// No argument, and nothing is piped in.
    #[error("no log to read")]
    #[diagnostic(
        code(comfy_triage::usage::no_log),
        help(
            "no log of ComfyUI was found in this folder, those above it, or the usual places\nname a log:      comfy-triage comfyui.log\nor pipe one in:  docker logs comfy 2>&1 | comfy-triage\n`comfy-triage --help` shows all options"
        )
    )]
    NoLog,
    /// A folder without a log.
    #[error("there is no log of ComfyUI in `{folder}`")]
    #[diagnostic(
        code(comfy_triage::usage::no_log_in),
        help("name the log itself, or the folder that ComfyUI was started in")
    )]
    NoLogIn { folder: String },
    /// No log was named, and the newest cannot be told.
    #[error("several logs are equally new; say which one you mean")]
    #[diagnostic(code(comfy_triage::usage::equally_new), help("{list}"))]
    EquallyNew { list: String },
    /// `--from-server` at an address where nobody answers.
    #[error("ComfyUI at `{url}` did not answer with its log")]
    #[diagnostic(
        code(comfy_triage::usage::server),
        help("check that ComfyUI runs there and is 0.3.0 or newer; only this machine's own addresses are asked")
    )]
    Server { url: String },
    /// The first argument is no file, and nearly a command.
    #[error("there is no file and no command `{given}`")]
    #[diagnostic(
        code(comfy_triage::usage::mistyped_command),
        help("did you mean the command `comfy-triage {near}`? A log of this name does not exist here")
    )]
    MistypedCommand { given: String, near: String },
    /// A quoted pattern that fits no file.
    #[error("no file fits `{pattern}`")]
    #[diagnostic(
        code(comfy_triage::usage::no_match),
        help("check the folder; `**` stands for any folders, as in \"logs/**/*.log\"")
    )]
    NoMatch { pattern: String },
    /// A size that cannot be read.
    #[error("`{given}` is not a memory limit")]
    #[diagnostic(
        code(comfy_triage::usage::memory_limit),
        help(
            "write a number with its unit: 16GiB, 24g, 90 GB, or plain bytes; G and GB are 1024 MB here, as Docker counts"
        )
    )]
    MemoryLimit { given: String },
    /// A bound that cannot be read, or in which no log could be read.
    #[error("`{given}` is no size for {option}")]
    #[diagnostic(
        code(comfy_triage::usage::bound),
        help("write a number with its unit, 1MiB at least: 512MiB, 2g, 64 GB, or plain bytes")
    )]
    Bound { option: String, given: String },
    /// A limit in which nothing could run: most likely the unit is missing.
    #[error("a memory limit of `{given}` is {bytes} bytes, too little for any program")]
    #[diagnostic(
        code(comfy_triage::usage::memory_limit_small),
        help("a number without a unit is bytes: write {given}GiB if you meant that")
    )]
    MemoryLimitSmall { given: String, bytes: u64 },
    /// `--fail-on` with something that is no verdict.
    #[error("`{given}` is not a verdict")]
    #[diagnostic(code(comfy_triage::usage::unknown_verdict))]
    UnknownVerdict {
        given: String,
        #[help]
        near: String,
    },
    /// `explain` or `rules show` with an unknown id.
    #[error("there is no rule, verdict, flag, known bug or node pack `{given}`")]
    #[diagnostic(code(comfy_triage::usage::unknown_id))]
    UnknownId {
        given: String,
        #[help]
        near: String,
    },
    /// `man` of a command that does not exist.
    #[error("there is no command `{given}`")]
    #[diagnostic(code(comfy_triage::usage::no_page))]
    NoPage {
        given: String,
        #[help]
        near: String,
    },
    /// `--area` with an unknown area.
    #[error("no rule is in the area `{given}`")]
    #[diagnostic(code(comfy_triage::usage::unknown_area))]
    UnknownArea {
        given: String,
        #[help]
        near: String,
    },
    /// `rules check` without a pack.
    #[error("no rule pack to check")]
    #[diagnostic(code(comfy_triage::usage::no_pack), help("name its folder: comfy-triage rules check my-rules"))]
    NoPack,
    /// `--rules` with a folder that is not there.
    #[error("there is no folder `{path}` with a rule pack")]
    #[diagnostic(
        code(comfy_triage::usage::no_rules),
        help("check the path behind --rules; without it the built-in rules are used alone")
    )]
    NoRules { path: String },
    /// `rules verify` on a tree that does not say its version.
    #[error("it is not known which version of ComfyUI this is")]
    #[diagnostic(code(comfy_triage::usage::no_version), help("say it: --version 0.33.0"))]
    NoVersion,
    /// `--comfyui` with something that is no version.
    #[error("`{given}` is not a version of ComfyUI")]
    #[diagnostic(code(comfy_triage::usage::version), help("write it as 0.3.68"))]
    Version { given: String },
    /// `--pid` of a process that is not there.
    #[error("there is no process {pid}")]
    #[diagnostic(
        code(comfy_triage::usage::no_process),
        help("its number is the one this system shows; inside a container the numbers are others")
    )]
    NoProcess { pid: u32 },
    /// Ctrl-C while a log was gone through for what is private.
    #[error("stopped before all that is private in the log was known: nothing of it is shown")]
    #[diagnostic(
        code(comfy_triage::usage::stopped_before_known),
        help("without --redact, Ctrl-C gives the report on what was read")
    )]
    StoppedBeforeKnown,
    /// Ctrl-C while logs were read of which a part is no answer.
    #[error("stopped before all logs were read to their end: no answer is given on a part of them")]
    #[diagnostic(
        code(comfy_triage::usage::stopped_early),
        help("comfy-triage LOG alone gives the report on what was read when Ctrl-C comes")
    )]
    StoppedEarly,
    /// What was to be shown still holds something that was replaced elsewhere.
    #[error("something private is still in the result (line {lines}): nothing of it is shown")]
    #[diagnostic(
        code(comfy_triage::usage::still_private),
        help(
            "this is a fault of comfy-triage: please report it with the kind of text in that line, not with the text"
        )
    )]
    StillPrivate { lines: String },
    /// `-o` names a log of the call.
    #[error("`{path}` is the log itself: it is not written over")]
    #[diagnostic(code(comfy_triage::usage::output_is_log), help("name another file behind -o"))]
    OutputIsLog { path: String },
    /// The answer cannot be written where it should go.
    #[error("cannot write `{path}`")]
    #[diagnostic(
        code(comfy_triage::usage::cannot_write),
        help("check that the folder exists and that you may write there")
    )]
    CannotWrite {
        path: String,
        #[source]
        source: std::io::Error,
    },
    /// Side evidence that this version does not weigh yet. Said aloud, so that nobody counts on it.
    #[error("`{option}` is not used by this version: the answer comes from the log alone")]
    #[diagnostic(code(comfy_triage::usage::not_used), severity(Warning))]
    NotUsed { option: &'static str },
    /// Side evidence that cannot be read.
    #[error("the {what} `{path}` cannot be read")]
    #[diagnostic(
        code(comfy_triage::usage::side_evidence),
        help("check the path; leave the option out to go without it")
    )]
    SideEvidence {
        what: &'static str,
        path: String,
        #[source]
        source: std::io::Error,
    },
}

/// A fault for programs: one line of JSON.
pub fn as_json(fault: &dyn Diagnostic) -> String {
    let severity = match fault.severity() {
        Some(miette::Severity::Warning) => "warning",
        Some(miette::Severity::Advice) => "advice",
        _ => "error",
    };
    let mut told = serde_json::json!({ "severity": severity, "message": fault.to_string() });
    if let Some(fields) = told.as_object_mut() {
        let cause = std::iter::successors(fault.source(), |cause| cause.source()).last().map(ToString::to_string);
        let more = [
            ("code", fault.code().map(|code| code.to_string())),
            ("help", fault.help().map(|help| help.to_string())),
            ("cause", cause),
        ];
        fields.extend(more.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text?.into()))));
    }
    format!("{}\n", serde_json::json!({ "error": told }))
}

/// A fault whose code stands behind its message: the message is what a person looks for.
#[derive(Debug)]
struct CodeLast<'f>(&'f dyn Diagnostic);

impl std::fmt::Display for CodeLast<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)?;
        self.0.code().map_or(Ok(()), |code| write!(f, " [{code}]"))
    }
}

impl std::error::Error for CodeLast<'_> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

impl Diagnostic for CodeLast<'_> {
    fn severity(&self) -> Option<miette::Severity> {
        self.0.severity()
    }

    fn help<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        self.0.help()
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        self.0.source_code()
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = miette::LabeledSpan> + '_>> {
        self.0.labels()
    }
}

/// A fault as it is shown on the console, at most `width` columns wide.
pub fn shown(fault: &dyn Diagnostic, width: usize, zh: bool) -> String {
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode()).with_links(false).with_width(width);
    let mut out = String::new();
    match handler.render_report(&mut out, &CodeLast(fault)) {
        // As wide as the English word, so that the rows below it stay where they are.
        Ok(()) if zh => out.replacen("  help: ", "  帮助：", 1),
        Ok(()) => out,
        Err(_) => format!("{fault}\n"),
    }
}
