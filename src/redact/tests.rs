//! What goes, what stays, and that equal things stay equal.

use super::Redactor;

fn redactor() -> Redactor {
    Redactor::new(
        ["got prompt", "Checkpoint files will always be loaded safely.", "max usable memory", "Requested to load Flux"],
        &["custom_nodes"],
    )
}

fn clean(line: &str) -> String {
    let mut redactor = redactor();
    redactor.learn(line);
    redactor.line(line)
}

#[test]
fn paths_keep_their_form_and_lose_the_name() {
    for (line, want) in [
        (r"** ComfyUI Path: C:\Users\alice\ComfyUI", r"** ComfyUI Path: C:\Users\redacted-user-1\ComfyUI"),
        (r"C:\\Users\\John Doe\\ComfyUI", r"C:\\Users\\redacted-user-1\\ComfyUI"),
        ("/home/alice/ComfyUI/custom_nodes/alice-pack", "/home/redacted-user-1/ComfyUI/custom_nodes/alice-pack"),
        ("cannot open /Users/alice.", "cannot open /Users/redacted-user-1."),
        ("/mnt/c/Users/alice/x, then alice again", "/mnt/c/Users/redacted-user-1/x, then redacted-user-1 again"),
        (
            "(venv) alice@deepthought:~/ComfyUI$ python main.py",
            "(venv) redacted-user-1@redacted-host-1:~/ComfyUI$ python main.py",
        ),
        ("Aug 04 10:39:10 deepthought earlyoom[845]: x", "Aug 04 10:39:10 redacted-host-1 earlyoom[845]: x"),
    ] {
        assert_eq!(clean(line), want);
    }
}

#[test]
fn accounts_that_everybody_has_stay() {
    for line in [
        "/home/user/ComfyUI",
        "/root/ComfyUI",
        r"C:\Users\Public\x",
        "/home/runner/build",
        "File \"/opt/ComfyUI/main.py\", line 3",
        "C:\\AI\\ComfyUI\\user\\default",
    ] {
        assert_eq!(clean(line), line);
    }
}

#[test]
fn keys_go_in_all_their_forms() {
    for (line, secret) in [
        ("hf_abcdefghijklmnopqrstuvwxyz0123 used", "hf_abcdefghijklmnopqrstuvwxyz0123"),
        ("Authorization: Bearer abc.def-123", "abc.def-123"),
        ("{'Authorization': 'Basic dXNlcjpwYXNz'}", "dXNlcjpwYXNz"),
        ("https://bob:hunter2@example.org/x", "hunter2"),
        ("password=1234", "1234"),
        (r#"{"api_key": "k-99881122"}"#, "k-99881122"),
        (r#"{\"password\": \"hunter2\"}"#, "hunter2"),
        ("HF_TOKEN=abcdef123456 python main.py", "abcdef123456"),
        ("python x.py --api-key abcdef123456", "abcdef123456"),
        ("https://civitai.com/api/download/1?token=0123456789abcdef", "0123456789abcdef"),
        ("password: 'two words'", "two words"),
    ] {
        let shown = clean(line);
        assert!(!shown.contains(secret) && shown.contains("redacted-key-"), "{shown}");
    }
}

#[test]
fn numbers_versions_and_words_stay() {
    for line in [
        "Requested to load FluxClipModel_",
        "loaded completely; 21437.55 MB usable, 11350.07 MB loaded, full load: True",
        "opencv-python 4.12.0.88",
        "opencv-python==4.12.0.88",
        "driver version: 32.0.15.6094",
        "To see the GUI go to: http://127.0.0.1:8188",
        "[DETAIL] RAM cache evictions: prompt=992ba56b-a723-4446-bf75-4eb3c05fb001 active=False full=False",
        "TOKENIZERS_PARALLELISM=false",
        "max_tokens=512, token=77",
        "invalid prompt: {'type': 'prompt_outputs_failed_validation'}",
        "https://github.com/Comfy-Org/ComfyUI/issues/1",
        "threading.local is fine, and so is ~/.local/lib",
        "   0.1 seconds: /opt/ComfyUI/custom_nodes/ComfyUI-KJNodes@1.0.5",
        "c10::Error at::Tensor 12:34:56",
        "got prompt",
        "Prompt executed in 0.48 seconds",
        "[Prompt Server] web root: /opt/ComfyUI/venv/lib/python3.12/site-packages/x/static",
        "git clone git@github.com:a/b.git",
    ] {
        assert_eq!(clean(line), line);
    }
}

#[test]
fn a_name_that_is_a_word_of_the_log_goes_only_from_paths() {
    let mut redactor = redactor();
    redactor.learn("/home/will/ComfyUI");
    redactor.learn("/home/alice/ComfyUI");
    assert_eq!(
        redactor.line("Checkpoint files will always be loaded safely."),
        "Checkpoint files will always be loaded safely."
    );
    assert_eq!(redactor.line("x /home/will/y"), "x /home/redacted-user-1/y");
    assert_eq!(redactor.line("Alice's cache, malice"), "redacted-user-2's cache, malice");
}

#[test]
fn equal_things_get_equal_tokens_and_a_clean_text_stays() {
    let mut redactor = redactor();
    let text = "/home/alice/a 192.168.7.4 /home/bob/b ALICE 192.168.7.5 192.168.7.4";
    redactor.learn(text);
    let once = redactor.line(text);
    assert_eq!(
        once,
        "/home/redacted-user-1/a redacted-ip-1 /home/redacted-user-2/b redacted-user-1 redacted-ip-2 redacted-ip-1"
    );
    assert_eq!(redactor.line(&once), once);
    let mut second = self::redactor();
    second.learn(&once);
    assert_eq!(
        second.line("/home/carol/x"),
        "/home/redacted-user-3/x",
        "numbers of an earlier run are not given again"
    );
}

#[test]
fn prompts_workflows_and_files_go() {
    for (line, secret) in [
        ("Prompt: a portrait of my neighbour", "neighbour"),
        ("[MyNode] positive prompt: a portrait of my neighbour", "neighbour"),
        ("{'text': 'a portrait of my neighbour', 'clip': 1}", "neighbour"),
        (r#"{"3": {"class_type": "KSampler", "inputs": {"seed": 7}}}"#, "KSampler"),
        ("saved /data/ComfyUI/output/holiday/anna at sea_00001_.png", "anna"),
        ("Saved file: anna_00001_.webp", "anna"),
        ("GET /view?filename=anna_00001_.png&type=output", "anna"),
    ] {
        let shown = clean(line);
        assert!(!shown.contains(secret), "{shown}");
    }
}

#[test]
fn a_key_and_a_workflow_over_several_lines_go() {
    let mut redactor = redactor();
    let lines = [
        "-----BEGIN OPENSSH PRIVATE KEY-----",
        "b3BlbnNzaC1rZXk",
        "-----END OPENSSH PRIVATE KEY-----",
        "## Attached Workflow",
        "```",
        "{\"secret\":",
        "\"anna\"}",
        "```",
        "## Additional Context",
        "plain",
    ];
    let shown: Vec<String> = lines.iter().map(|line| redactor.line(line)).collect();
    assert_eq!(shown.join("\n").matches("redacted-").count(), 3, "{shown:?}");
    assert!(!shown.join("\n").contains("b3Blb") && !shown.join("\n").contains("anna"));
    assert_eq!(shown.last().map(String::as_str), Some("plain"));
}

#[test]
fn what_was_replaced_is_told_without_telling_it() {
    let mut redactor = redactor();
    redactor.learn("/home/alice/x password=hunter2");
    redactor.line("/home/alice/x password=hunter2 /home/alice");
    let table: Vec<String> =
        redactor.replaced().iter().map(|row| format!("{} {} {}", row.token, row.count, row.hint)).collect();
    assert_eq!(table, ["redacted-user-1 2 al… (5)", "redacted-key-1 1 … (7)"]);
}

#[test]
fn names_with_blanks_go_as_a_whole() {
    for (line, want) in [
        ("open /mnt/c/Users/Mira Lindqvist/x, Mira Lindqvist", "open /mnt/c/Users/redacted-user-1/x, redacted-user-1"),
        ("open /Users/Mira van Lind/x", "open /Users/redacted-user-1/x"),
        ("open /Users/Mira Lindqvist/x", "open /Users/redacted-user-1/x"),
        ("see /home/alice and /home/alice or a/b", "see /home/redacted-user-1 and /home/redacted-user-1 or a/b"),
        (r"file '\\nas-acme\", r"file '\\redacted-host-1\"),
        ("aws AKIAIOSFODNN7EXAMPLE wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "aws redacted-key-1 redacted-key-2"),
    ] {
        assert_eq!(clean(line), want);
    }
}

/// Whatever the width of the window, no piece of a secret stays.
#[test]
fn what_a_window_broke_goes_in_pieces() {
    let secrets = [
        "export OPENAI_API_KEY=sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEF",
        "see https://civitai.com/api/download/models/12345?token=0123456789abcdef0123456789abcdef",
        "Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP",
        "prompt: a portrait of my neighbour and of her daughter on the roof of their house at night",
        "connect to gpu01.acme.internal and wait for what comes of it until the end of the day or so",
    ];
    let words = ["opqrstuvwx", "9abcdef012", "IxMjM0NTY3", "neighbour", "daughter", "acme"];
    for width in 40..90 {
        // The reader tells which lines a window broke; it hands them over together.
        let mut groups: Vec<Vec<&str>> = Vec::new();
        for secret in secrets {
            groups.push(vec!["got prompt"]);
            groups.push(secret.as_bytes().chunks(width).filter_map(|piece| std::str::from_utf8(piece).ok()).collect());
        }
        let mut redactor = redactor();
        groups.iter().for_each(|lines| redactor.learn_lines(lines, false));
        redactor.begin();
        let shown: Vec<String> = groups.iter().flat_map(|lines| redactor.lines(lines, false)).collect();
        let shown = shown.join("\n");
        for word in words {
            assert!(!shown.contains(word), "{width}: {word}\n{shown}");
        }
        assert_eq!(shown.matches("got prompt").count(), secrets.len(), "{shown}");
    }
}
