//! From a log to its report: reads, folds, weighs, and puts everything into the published form.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::pictures::{CardReport, MarkReport, PromptGroupReport, RamReport, SamplesReport};
use super::report::{
    CountsReport, CurveReport, DynamicReport, EndingReport, ExceptionReport, FactReport, Fitness, Grade, HostOomReport,
    InFlightReport, LeakReport, LoadReport, NodeReport, OomReport, PromptReport, PromptsReport, Report, SessionReport,
    UnloadsReport, VerdictReport,
};
use crate::catalog::{Packs, Verdict, in_chinese};
use crate::diagnosis::{self, Context, Diagnosis, Messages, place};
use crate::input::{Exceeded, InputError, ReadOptions, Source};
use crate::pipeline::{Pipeline, PipelineOptions, Read};
use crate::samples::Samples;
use crate::system::Kind;
use crate::timeline::{EndingKind, Exception, Flag, OomRecord, Session, Timeline};

/// How to answer, and side evidence.
#[derive(Debug, Clone, Default)]
pub struct Question {
    /// Texts in Simplified Chinese instead of English.
    pub zh: bool,
    /// Words of `--asked`.
    pub asked: Vec<String>,
    /// Limit of memory that the user told, in MiB.
    pub memory_limit_mib: Option<f64>,
    /// The limit comes from a probe and was not typed.
    pub limit_from_probe: bool,
    /// Memory readings taken beside the log.
    pub samples: Option<Samples>,
    /// The system on which the answer is read.
    pub here: Kind,
}

/// Name of a log that came through a pipe.
const PIPE: &str = "-";

/// Reads a log to its end.
///
/// # Errors
/// What the input layer says: missing, unreadable, empty, a folder.
pub fn read_log(source: Source, packs: &Packs, options: &ReadOptions) -> Result<Read, InputError> {
    Pipeline::new(packs, PipelineOptions { read: options.clone(), ..PipelineOptions::default() }).read(source)
}

/// The report on a log that was read.
pub fn answer(name: &str, read: &Read, packs: &Packs, question: &Question) -> Report {
    let messages = Messages { packs, zh: question.zh };
    let asked = diagnosis::Question {
        asked: question.asked.clone(),
        memory_limit_mib: question.memory_limit_mib,
        samples: question.samples.clone(),
        here: question.here,
        log: (name != PIPE).then(|| name.to_owned()),
    };
    let diagnosis = diagnosis::diagnose(&read.timeline, read.tally, &messages, &asked);
    let sessions = (0..read.timeline.sessions.len())
        .filter_map(|index| Context::of(&read.timeline, index, &messages, question.memory_limit_mib))
        .map(|view| session_report(&view, packs))
        .collect();
    let verdict = verdict(&diagnosis);
    let mut given = Vec::new();
    if let Some(mib) = question.memory_limit_mib {
        let id = if question.limit_from_probe { "given-probe-limit" } else { "given-memory-limit" };
        given.push(messages.text(id, &[("limit", &crate::text::mib(mib))]));
    }
    if let Some(samples) = &question.samples {
        given.push(messages.count("given-samples-one", "given-samples", samples.points.len() as u64, &[]));
    }
    let mut cannot_tell = diagnosis.cannot_tell;
    if verdict.primary == Verdict::InsufficientEvidence
        && let Some(settle) = diagnosis.findings.first().and_then(|finding| finding.settle.clone())
    {
        cannot_tell.retain(|text| *text != settle);
    }
    Report {
        source: name.to_owned(),
        language: if question.zh { "zh" } else { "en" }.to_owned(),
        asked: question.asked.clone(),
        verdict,
        findings: diagnosis.findings,
        ruled_out: diagnosis.ruled_out,
        next_steps: diagnosis.next_steps,
        avoid: diagnosis.avoid,
        cannot_tell,
        version: diagnosis.version,
        sessions,
        ending: ending(&read.timeline, &messages),
        fitness: fitness(read, &messages),
        samples: question.samples.as_ref().and_then(SamplesReport::of),
        given,
        partial: read.intake.truncated_by_error.is_some(),
    }
}

fn verdict(diagnosis: &Diagnosis) -> VerdictReport {
    match diagnosis.findings.first() {
        Some(chosen) => VerdictReport {
            primary: chosen.id,
            secondary: diagnosis.secondary.clone(),
            grade: chosen.grade,
            grade_reason: chosen.grade_reason.clone(),
            headline: chosen.summary.clone(),
        },
        None => VerdictReport {
            primary: Verdict::InsufficientEvidence,
            secondary: Vec::new(),
            grade: Grade::Weak,
            grade_reason: String::new(),
            headline: String::new(),
        },
    }
}

/// What the start told, by name; flags are one of them.
fn facts(session: &Session) -> BTreeMap<String, FactReport> {
    let mut facts: BTreeMap<String, FactReport> = session
        .facts
        .iter()
        .filter(|(name, _)| name.as_str() != "launcher")
        .map(|(name, fact)| {
            let value = serde_json::to_value(&fact.value).unwrap_or(serde_json::Value::Null);
            (name.clone(), FactReport { value, at: place(&fact.at.place, fact.at.last_line) })
        })
        .collect();
    if let Some(first) = session.flags.first() {
        let flags: Vec<String> = session.flags.iter().map(Flag::written).collect();
        facts.insert("flags".to_owned(), FactReport { value: json!(flags), at: place(&first.at.place, None) });
    }
    facts
}

fn exception_report(exception: &Exception) -> ExceptionReport {
    let place_name = serde_json::to_value(exception.place).ok();
    ExceptionReport {
        kind: exception.kind.clone(),
        message: exception.message.clone(),
        node: exception.node.clone(),
        dirs: exception.dirs.clone(),
        place: place_name.and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default(),
        at: place(&exception.at.place, None),
    }
}

fn counts_report(view: &Context<'_>) -> CountsReport {
    let counts = &view.session.counts;
    let number = |counted: &Option<crate::timeline::Counted>| counted.as_ref().map_or(0, |counted| counted.count);
    CountsReport {
        total_vram_lines: counts.total_vram_lines,
        starts: counts.starts,
        pin_errors: number(&counts.pin_errors),
        aimdo_errors: number(&counts.aimdo_errors),
        tiled_retries: number(&counts.tiled_retries),
        attention_retries: number(&counts.attention_retries),
        oom_unloads: number(&counts.oom_unloads),
        kills: kill_lines(view),
    }
}

// Long: one entry for each field of the published form.
fn session_report(view: &Context<'_>, packs: &Packs) -> SessionReport {
    let session = view.session;
    SessionReport {
        number: view.number,
        first_line: session.first_line,
        last_line: session.last_line,
        facts: facts(session),
        custom_nodes: session
            .nodes
            .iter()
            .map(|node| NodeReport {
                dir: node.dir.clone(),
                seconds: node.seconds,
                failed: node.failed,
                reason: node.reason.clone(),
                at: place(&node.at.place, None),
            })
            .collect(),
        prompts: PromptsReport {
            got: session.prompts.got,
            executed: session.prompts.executed,
            failed: session.prompts.failed,
            lost: session.prompts.lost,
            invalid: session.prompts.invalid,
            interrupted: session.prompts.interrupted,
            ignored: session.prompts.ignored,
            broken: session.prompts.broken,
        },
        leaks: leaks(session),
        leak_passes: session.leak_passes,
        loads: session
            .loads
            .iter()
            .map(|(class, load)| (class.clone(), LoadReport { requested: load.requested, last_mib: load.last_mib }))
            .collect(),
        dynamic: session
            .dynamic
            .iter()
            .map(|(class, dynamic)| {
                (class.clone(), DynamicReport { prepared: dynamic.prepared, staged_mib: dynamic.staged_mib })
            })
            .collect(),
        unloads: UnloadsReport { lines: session.unloads.lines, models: session.unloads.models },
        ooms: session.ooms.iter().map(|oom| oom_report(oom, view, packs)).collect(),
        host_ooms: session
            .host_ooms
            .iter()
            .map(|oom| HostOomReport {
                kind: oom.kind.clone(),
                requested: oom.requested,
                at: place(&oom.at.place, None),
            })
            .collect(),
        exceptions: session.exceptions.iter().map(exception_report).collect(),
        counts: counts_report(view),
        timeline: session.prompt_list.iter().map(prompt_report).collect(),
        prompt_groups: match session.prompts_left_out {
            0 => Vec::new(),
            _ => session.prompt_groups.iter().map(PromptGroupReport::of).collect(),
        },
        marks: session.marks.iter().map(MarkReport::of).collect(),
        marks_left_out: session.marks_left_out,
        ram: RamReport::of(view, packs),
        left_out: session.prompts_left_out + session.ooms_left_out + session.exceptions_left_out,
    }
}

/// Lines of the log that tell of a kill.
fn kill_lines(view: &Context<'_>) -> u64 {
    let Some(ending) = view.ending() else { return 0 };
    let lines: BTreeSet<u64> = ending
        .kills
        .iter()
        .filter(|at| ending.exit_code.is_none() || at.text.to_lowercase().contains("kill"))
        .map(|at| at.place.line)
        .collect();
    lines.len() as u64
}

fn leaks(session: &Session) -> BTreeMap<String, LeakReport> {
    session
        .leaks
        .iter()
        .map(|(class, leak)| {
            let report = LeakReport {
                potential: leak.potential,
                warning: leak.warning,
                held_first: leak.held_first,
                held_last: leak.held_last,
                held_max: leak.held_max,
                released_at: leak.released_at.as_ref().map(|at| place(&at.place, None)),
                curve: leak
                    .curve
                    .iter()
                    .map(|point| CurveReport { prompt: point.prompt, held: point.held, line: point.line })
                    .collect(),
            };
            (class.clone(), report)
        })
        .collect()
}

fn oom_report(oom: &OomRecord, view: &Context<'_>, packs: &Packs) -> OomReport {
    let numbers = &oom.numbers;
    let split = diagnosis::split(oom, view, packs);
    OomReport {
        kind: oom.kind.clone(),
        requested: numbers.requested,
        capacity: numbers.capacity,
        free: numbers.free,
        allocated: numbers.allocated,
        reserved_unallocated: numbers.reserved_unallocated,
        others: numbers.others,
        limit: numbers.limit,
        process: numbers.process,
        other_allocations: numbers.other_allocations,
        deciding_part: split.part.name().to_owned(),
        node: oom.node.clone(),
        at: place(&oom.at.place, Some(oom.last_line).filter(|last| *last > oom.at.place.line)),
        texts: oom.sizes.iter().cloned().collect(),
        card: CardReport::of(oom, &split),
        prompt: oom.prompt,
        recovered: oom.recovered,
    }
}

fn prompt_report(prompt: &crate::timeline::Prompt) -> PromptReport {
    let outcome = match (prompt.ended, prompt.failed, prompt.interrupted) {
        (false, _, _) => "unfinished",
        (_, true, _) => "failed",
        (_, _, true) => "interrupted",
        _ => "ok",
    };
    let loads: BTreeSet<String> = prompt.requested.keys().chain(prompt.prepared.keys()).cloned().collect();
    PromptReport {
        number: prompt.number,
        first_line: prompt.first_line,
        last_line: prompt.last_line,
        seconds: prompt.seconds,
        outcome: outcome.to_owned(),
        loads: loads.into_iter().collect(),
        seconds_per_step: prompt.seconds_per_step,
        began_at: prompt.began_at,
        ended_at: prompt.ended_at,
        step_seconds: prompt.step_seconds,
        load_seconds: prompt.load_seconds,
    }
}

fn ending(timeline: &Timeline, messages: &Messages<'_>) -> EndingReport {
    let Some(ending) = &timeline.ending else {
        let kind = if timeline.broken_off { "unread" } else { "empty" };
        return EndingReport {
            kind: kind.to_owned(),
            at: None,
            in_flight: None,
            exit_code: None,
            text: messages.text(&format!("ending-{kind}"), &[]),
        };
    };
    let kind =
        serde_json::to_value(ending.kind).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default();
    // Where a log stops is its last line, which may be a bar's.
    let stops = matches!(ending.kind, EndingKind::Abrupt);
    let last = timeline.sessions.last().map(|session| session.last_line).filter(|_| stops);
    let line = last.or(ending.at.as_ref().map(|at| at.place.line)).map_or_else(String::new, |line| line.to_string());
    let text = messages.text(&format!("ending-{kind}"), &[("line", &line)]);
    EndingReport {
        kind,
        at: ending.at.as_ref().map(|at| place(&at.place, at.last_line)),
        in_flight: ending.in_flight.as_ref().map(|flight| InFlightReport {
            prompt: flight.prompt,
            class: flight.class.clone(),
            mib: flight.mib,
            step: flight.step,
            since_line: flight.since_line,
        }),
        exit_code: ending.exit_code,
        text,
    }
}

fn fitness(read: &Read, messages: &Messages<'_>) -> Fitness {
    let intake = &read.intake;
    let mut gaps = Vec::new();
    let mut add = |key: &str, holds: bool, values: &[(&str, &str)]| {
        if holds {
            gaps.push(messages.text(key, values));
        }
    };
    add("gap-binary", intake.looks_binary, &[]);
    add(
        "gap-invalid",
        intake.invalid_lines > 0 && intake.encoding.starts_with("utf-8"),
        &[("n", &intake.invalid_lines.to_string())],
    );
    add("gap-long-lines", intake.long_lines > 0, &[("n", &intake.long_lines.to_string())]);
    add("gap-blobs", intake.blob_lines > 0, &[("n", &intake.blob_lines.to_string())]);
    if let Some(line) = read.timeline.doubled_from {
        let key = if read.timeline.copies > 2 { "gap-tripled" } else { "gap-doubled" };
        add(key, true, &[("line", &line.to_string())]);
    }
    let left_out: u64 = read.timeline.sessions.iter().map(|session| session.prompts_left_out).sum();
    add("gap-left-out", left_out > 0, &[("n", &left_out.to_string())]);
    add("gap-sessions", read.timeline.left_out.starts > 0, &[("n", &read.timeline.left_out.starts.to_string())]);
    if let Some(error) = &intake.truncated_by_error {
        let told = Exceeded::SENTENCES.iter().filter(|_| messages.zh).find_map(|id| in_chinese(id, error));
        add("gap-read-error", true, &[("error", told.as_ref().unwrap_or(error))]);
    }
    Fitness {
        lines: intake.lines,
        understood: read.tally.understood,
        texts: read.tally.texts,
        encoding: intake.encoding.to_owned(),
        cut_end: intake.cut_end,
        gaps,
    }
}
