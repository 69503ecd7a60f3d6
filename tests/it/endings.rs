//! How starts end when nobody says so: another program's death, a start over a prompt in flight, faults of several starts.

use comfy_triage::catalog::Packs;
use comfy_triage::diagnosis::Grade;
use comfy_triage::input::{ReadOptions, Source};
use comfy_triage::report::{Question, Report, answer, read_log};

/// Nine lines.
const START: &str = "Total VRAM 24564 MB, total RAM 65367 MB\npytorch version: 2.8.0+cu128\nSet vram state to: NORMAL_VRAM\nDevice: cuda:0 NVIDIA GeForce RTX 4090 : cudaMallocAsync\nPython version: 3.12.3 (main, Aug 14 2025, 17:47:21) [GCC 13.3.0]\nComfyUI version: 0.3.64\nStarting server\n\nTo see the GUI go to: http://127.0.0.1:8188\n";
const GOOD: &str = "got prompt\nPrompt executed in 3.20 seconds\n";
/// A prompt that nobody ends.
const OPEN: &str =
    "got prompt\nRequested to load Flux\nloaded completely; 9000.00 MB usable, 11340.00 MB loaded, full load: True\n";
const KERNEL: &str = "[  962.893088] Out of memory: Killed process 24610 (python) total-vm:79268092kB, anon-rss:29992484kB, file-rss:55092kB, shmem-rss:0kB, UID:1000 pgtables:69632kB oom_score_adj:200\n";
const SHELL: &str = "./start.sh: line 12:  4711 Killed                  python main.py --listen\n";

fn triage(log: &str) -> Report {
    let packs = Packs::built_in();
    let source = Source::from_reader("log", std::io::Cursor::new(log.as_bytes().to_vec())).expect("opens");
    let read = read_log(source, &packs, &ReadOptions::default()).expect("reads");
    answer("log", &read, &packs, &Question::default())
}

fn primary(report: &Report) -> (&str, Grade) {
    (report.verdict.primary.as_str(), report.verdict.grade)
}

#[test]
fn another_programs_death_is_not_comfyuis() {
    for line in [
        "/opt/encode.sh: line 3:  4711 Killed                  ffmpeg -i in.mp4 out.mp4\n",
        "[1]+  Killed                  ollama serve\n",
        "zsh: killed     ffmpeg -i a b\n",
        "db-1 exited with code 137\n",
        "/opt/encode.sh: line 3:  4711 Segmentation fault      (core dumped) ffmpeg -i in.mp4\n",
        "ollama.service: Main process exited, code=killed, status=9/KILL\n",
    ] {
        let report = triage(&format!("{START}{GOOD}{GOOD}{line}"));
        assert_eq!(primary(&report), ("no-fault", Grade::Strong), "{line}{}", report.verdict.headline);
    }
    for line in [SHELL, "[1]+  Killed                  \"$PYTHON\" main.py $ARGS\n", "comfyui-1 exited with code 137\n"]
    {
        let report = triage(&format!("{START}{GOOD}{OPEN}{line}"));
        assert_eq!(primary(&report), ("host-oom", Grade::Moderate), "{line}");
    }
}

#[test]
fn who_runs_further_prompts_was_not_killed() {
    for line in [KERNEL, SHELL, "Killed\n", "Segmentation fault (core dumped)\n", "exit code 137\n"] {
        let lives = triage(&format!("{START}{GOOD}got prompt\n{line}Prompt executed in 3.00 seconds\n"));
        assert_eq!(primary(&lives), ("no-fault", Grade::Strong), "{line}{}", lives.verdict.headline);
        let dies = triage(&format!("{START}{GOOD}{OPEN}{line}"));
        assert_ne!(dies.verdict.primary, "no-fault", "{line}");
        // With a start in between, it was ComfyUI that died.
        let again = triage(&format!("{START}{GOOD}{OPEN}{line}{START}{GOOD}"));
        assert_ne!(again.verdict.primary, "no-fault", "{line}");
        assert_eq!(again.sessions.len(), 2);
    }
    // What somebody pasted above the log was no event of this start.
    let pasted = triage(&format!("{KERNEL}{START}{GOOD}{OPEN}"));
    assert_eq!(primary(&pasted), ("host-oom", Grade::Certain));
}

#[test]
fn a_crash_report_of_one_who_lives_on_blames_nobody() {
    let stack = "Windows fatal exception: access violation\n\nCurrent thread 0x00001234 (most recent call first):\n  File \"C:\\ComfyUI\\custom_nodes\\foo\\nodes.py\", line 12 in run\n  File \"C:\\ComfyUI\\execution.py\", line 200 in execute\n\n";
    let lives = triage(&format!("{START}{GOOD}got prompt\n{stack}Prompt executed in 3.00 seconds\n"));
    assert_eq!(primary(&lives), ("no-fault", Grade::Strong), "{}", lives.verdict.headline);
    let dies = triage(&format!("{START}{GOOD}got prompt\n{stack}"));
    assert_eq!(dies.verdict.primary, "custom-node", "{}", dies.verdict.headline);
}

#[test]
fn a_start_over_a_prompt_in_flight_is_an_end() {
    let report = triage(&format!("{START}{GOOD}{OPEN}{START}{GOOD}{GOOD}"));
    assert_eq!(primary(&report), ("insufficient-evidence", Grade::Moderate));
    assert!(report.verdict.headline.contains("started again (line 15)"), "{}", report.verdict.headline);
    let lines: Vec<u64> = report.findings[0].evidence.iter().map(|line| line.at.line).collect();
    assert_eq!(lines, [13, 15]);
    let since = report.findings[0].figures.iter().find(|figure| figure.name == "since").expect("told");
    assert!(since.text.ends_with("2 prompts ran to the end"), "{}", since.text);
    // No line of the second start is told as one of the first.
    assert_eq!(report.sessions[0].last_line, 14);
    let silent = report.findings.iter().find(|finding| finding.about.as_deref() == Some("silent-end")).expect("told");
    assert!(silent.evidence.iter().all(|line| line.at.line <= 15));

    let often = triage(&format!("{START}{GOOD}{OPEN}").repeat(70));
    assert!(often.verdict.headline.contains("stopped 69 times"), "{}", often.verdict.headline);

    let asked = triage(&format!("{START}{GOOD}{OPEN}Terminated\n{START}{GOOD}"));
    assert!(asked.verdict.headline.contains("SIGTERM"), "{}", asked.verdict.headline);
    assert!(asked.findings[0].evidence.iter().any(|line| line.text == "Terminated"));
}

#[test]
fn a_start_after_idle_time_or_a_stop_is_no_fault() {
    for end in [GOOD.to_owned(), format!("{GOOD}Stopped server\n"), format!("{OPEN}Stopped server\n")] {
        let report = triage(&format!("{START}{end}{START}{GOOD}"));
        assert_eq!(primary(&report), ("no-fault", Grade::Strong), "{end}{}", report.verdict.headline);
    }
}

fn figure<'r>(report: &'r Report, name: &str) -> &'r str {
    let figure = report.findings[0].figures.iter().find(|figure| figure.name == name);
    figure.map_or("", |figure| figure.text.as_str())
}

#[test]
fn a_fault_of_several_starts_is_told_once_with_its_number() {
    let killed = format!("{START}{GOOD}{OPEN}{SHELL}");
    let report = triage(&format!("{}{START}{GOOD}", killed.repeat(7)));
    assert_eq!(primary(&report), ("host-oom", Grade::Moderate));
    assert_eq!(report.findings.iter().filter(|finding| finding.id == "host-oom").count(), 1);
    assert_eq!(figure(&report, "starts"), "the same in 7 of 8 starts");
    let lines = &report.findings[0].figures.iter().find(|figure| figure.name == "starts").expect("told").lines;
    assert_eq!(lines, &[15, 30, 45, 60, 75, 90, 105]);
    let leak = report.ruled_out.iter().find(|item| item.id == "leak-confirmed").expect("ruled out");
    assert!(leak.reason.contains("8 prompts"), "{}", leak.reason);
}

#[test]
fn what_fails_now_goes_before_an_older_kill() {
    let oom = "got prompt\n!!! Exception during processing !!! Allocation on device\nTraceback (most recent call last):\n  File \"/opt/ComfyUI/execution.py\", line 496, in execute\n    output_data = get_output_data()\ntorch.OutOfMemoryError: Allocation on device\n\nGot an OOM, unloading all loaded models.\nPrompt executed in 0.50 seconds\n";
    let report = triage(&format!("{START}{GOOD}{OPEN}{SHELL}{START}{GOOD}{oom}"));
    assert_eq!(report.verdict.primary, "gpu-oom", "{}", report.verdict.headline);
    assert_eq!(report.verdict.secondary, ["host-oom"]);
    assert!(!report.next_steps.is_empty());
    // Once that is over, the kill is what remains to be told.
    let over = triage(&format!("{START}{GOOD}{OPEN}{SHELL}{START}{GOOD}{oom}{GOOD}"));
    assert_eq!(over.verdict.primary, "host-oom", "{}", over.verdict.headline);
}

#[test]
fn a_fault_of_long_ago_is_told_with_all_that_ran_since() {
    let quiet = format!("{START}{}", GOOD.repeat(9));
    let report = triage(&format!("{START}{GOOD}{OPEN}{SHELL}{}", quiet.repeat(3)));
    let well =
        "ComfyUI runs well now: 27 prompts without a fault since the start in line 16. Before that: ComfyUI was killed";
    assert!(report.verdict.headline.starts_with(well), "{}", report.verdict.headline);
    assert_eq!(primary(&report), ("host-oom", Grade::Moderate));
    // One that failed since, or one that nobody ended, is not "well".
    let failed = "got prompt\n!!! Exception during processing !!! x\nTraceback (most recent call last):\n  File \"/opt/ComfyUI/execution.py\", line 1, in execute\nRuntimeError: x\n\nPrompt executed in 1.00 seconds\n";
    for tail in [format!("{failed}{GOOD}"), OPEN.to_owned()] {
        let report = triage(&format!("{START}{GOOD}{OPEN}{SHELL}{}{tail}", quiet.repeat(3)));
        assert!(!report.verdict.headline.contains("runs well"), "{tail}{}", report.verdict.headline);
    }
    assert_eq!(
        figure(&report, "session"),
        "last seen in session 1 of 4; since the start in line 16 27 prompts ran to the end without it"
    );
}

#[test]
fn a_restart_on_purpose_is_no_silent_end() {
    for text in
        ["\nRestarting... [Legacy Mode]\n\n\nCommand: ['/venv/bin/python', 'main.py']\n", "\nRestarting...\n\n\n"]
    {
        let report = triage(&format!("{START}{GOOD}{OPEN}{text}{START}{GOOD}{GOOD}"));
        assert_eq!(primary(&report), ("no-fault", Grade::Strong), "{}", report.verdict.headline);
        assert_eq!(report.sessions.len(), 2);
        let alone = triage(&format!("{START}{OPEN}{text}"));
        assert_eq!(
            alone.verdict.headline.split(" in the middle").next(),
            Some("ComfyUI was stopped or restarted on purpose")
        );
        assert_eq!(alone.findings[0].evidence[0].at.line, 14, "{text}");
    }
    // Who takes another prompt after such a line has not stopped.
    let goes_on = triage(&format!("{START}{GOOD}Restarting...\n{OPEN}"));
    assert!(goes_on.verdict.headline.contains("stops in the middle of a prompt"), "{}", goes_on.verdict.headline);
}

#[test]
fn what_an_error_quotes_of_a_kill_is_no_kill() {
    for line in ["Error: Killed\n", "RuntimeError: Killed\n", "RuntimeError: exit code 137\n"] {
        let report = triage(&format!("{START}{GOOD}{OPEN}{line}"));
        assert_eq!(report.verdict.primary, "other-error", "{line}{}", report.verdict.headline);
        assert!(
            report
                .findings
                .iter()
                .all(|finding| finding.id != "host-oom" || finding.about.as_deref() == Some("silent-end")),
            "{line}"
        );
    }
    assert_eq!(triage(&format!("{START}{GOOD}{OPEN}Job failed: Killed\n")).verdict.primary, "insufficient-evidence");
    assert_eq!(primary(&triage(&format!("{START}{GOOD}{OPEN}Killed\n"))), ("host-oom", Grade::Moderate));
}

#[test]
fn the_kernels_constraint_alone_tells_a_kill_and_its_limit() {
    let line = |constraint: &str, task: &str| {
        format!(
            "oom-kill:constraint={constraint},nodemask=(null),cpuset=ab12,mems_allowed=0,task_memcg=/x,task={task},pid=17,uid=0\n"
        )
    };
    let report = |constraint: &str, task: &str| triage(&format!("{START}{GOOD}{OPEN}{}", line(constraint, task)));
    let container = report("CONSTRAINT_MEMCG", "python3");
    assert_eq!(primary(&container), ("container-limit", Grade::Certain), "{}", container.verdict.headline);
    assert_eq!(container.findings[0].evidence[0].at.line, 15);
    assert_eq!(primary(&report("CONSTRAINT_NONE", "python")), ("host-oom", Grade::Certain));
    // Another program's death, or a line that was cut before it names one.
    assert_eq!(report("CONSTRAINT_NONE", "chrome").verdict.primary, "insufficient-evidence");
    let cut = "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=ab12,mems_allowed=0\n";
    assert_eq!(triage(&format!("{START}{GOOD}{OPEN}{cut}")).verdict.primary, "insufficient-evidence");
    let lives = triage(&format!("{START}{OPEN}{}Prompt executed in 3.00 seconds\n", line("CONSTRAINT_NONE", "python")));
    assert_eq!(primary(&lives), ("no-fault", Grade::Strong));
}

#[test]
fn tools_tell_ends_in_many_forms() {
    let of = |line: &str| {
        let report = triage(&format!("{START}{GOOD}{OPEN}{line}\n"));
        (report.verdict.primary.to_string(), report.findings[0].about.clone().unwrap_or_default())
    };
    for line in [
        "exit code: 137",
        "exited with code 137",
        "exit status 137",
        "exited: comfyui (exit status 137; not expected)",
        "App [comfyui:0] exited with code [0] via signal [SIGKILL]",
        "Error: Process completed with exit code 137.",
        "Command terminated by signal 9",
        "+++ killed by SIGKILL +++",
        "Program terminated with signal SIGKILL, Killed.",
        "exitCode: 137",
        "\"ExitCode\": 137,",
        "Exited (137) 2 minutes ago",
        "Exit code: -9",
        "comfyui.service: Main process exited, code=killed, status=9/KILL",
        "comfyui.service: A process of this unit has been killed by the OOM killer.",
        "Getötet",
        "./run.sh: Zeile 3:  4242 Getötet                 python main.py",
        "[1]+  Getötet                 python main.py",
        "Processus arrêté",
        "./run.sh : ligne 3 :  4242 Processus arrêté        python main.py",
        "Terminado (killed)",
        "./run.sh: línea 3:  4242 Terminado (killed)      python main.py",
        "強制終了",
        "Убито",
        "./run.sh: строка 3:  4242 Убито                   python main.py",
        "Morto",
        "./run.sh: linha 3:  4242 Morto                   python main.py",
    ] {
        assert_eq!(of(line).0, "host-oom", "{line}");
    }
    for line in
        ["reason: OOMKilled", "\"reason\": \"OOMKilled\",", "comfyui-7f9c-x2lp   0/1     OOMKilled   3 (25s ago)   10m"]
    {
        assert_eq!(of(line).0, "container-limit", "{line}");
    }
    for line in [
        "exit code 139",
        "Speicherzugriffsfehler (Speicherabzug geschrieben)",
        "comfyui.service: Main process exited, code=killed, status=11/SEGV",
    ] {
        assert_eq!(of(line), ("other-error".to_owned(), "native-crash".to_owned()), "{line}");
    }
    for line in ["Exit code: -1073741819 (0xC0000005)", "[process exited with code 3221225477 (0xc0000005)]"] {
        assert_eq!(of(line), ("other-error".to_owned(), "native-crash".to_owned()), "{line}");
    }
    for line in ["./run.sh: Zeile 3:  4242 Getötet                 ffmpeg -i a b", "Terminado", "exit status 1"] {
        assert_eq!(of(line).0, "insufficient-evidence", "{line}");
    }
}
