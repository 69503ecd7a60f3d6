//! Every key of an expectation's `facts` against its place in the report (the table of `fixtures/README.md`).

use serde_json::{Value, json};

use super::Case;
use super::json::{equal, first, folder, items, key, last, sum, texts};

/// Expected figures that the contract does not carry.
const NOT_CARRIED: [&str; 1] = ["gpu"];

/// What is not as expected, one line each.
pub fn differences(case: &Case, report: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for (name, expected) in case.expect["facts"].as_object().into_iter().flatten() {
        check(name, expected, report, &mut found);
    }
    let version = &case.expect["comfyui_version"];
    if version.as_str().is_some_and(|version| stands_in_log(case, version)) {
        let exact = &report["version"]["exact"];
        let shown = if exact.is_null() { first(report, "/facts/comfyui_version/value") } else { exact };
        compare("comfyui_version", version, shown, &mut found);
    }
    if let Some(expected) = case.expect["encoding"].as_str() {
        let shown = report["fitness"]["encoding"].as_str().unwrap_or_default();
        if !shown.starts_with(expected) {
            found.push(format!("encoding: expected {expected}, got {shown}"));
        }
    }
    found.iter().map(|line| format!("{}: {line}", case.name)).collect()
}

/// A person knew the version of every real run; one stream of two may not say it.
fn stands_in_log(case: &Case, text: &str) -> bool {
    let bytes = std::fs::read(super::root().join(case.log())).unwrap();
    let narrow: Vec<u8> = bytes.into_iter().filter(|byte| *byte != 0).collect();
    narrow.windows(text.len()).any(|part| part == text.as_bytes())
}

fn check(name: &str, expected: &Value, report: &Value, found: &mut Vec<String>) {
    match name {
        "total_vram_mb" => fact("total_vram_mib", expected, report, found),
        "total_ram_mb" => fact("total_ram_mib", expected, report, found),
        "cgroup_limit_mb" => fact("cgroup_limit_mib", expected, report, found),
        "host_ram_mb" => fact("host_ram_mib", expected, report, found),
        "pinned_mb" => fact("pinned_budget_mib", expected, report, found),
        "pytorch" => fact("pytorch_version", expected, report, found),
        "comfyui_version" | "total_ram_mib" | "total_vram_mib" | "vram_state" | "dynamic_vram" => {
            fact(name, expected, report, found)
        }
        "devices" => fact("device", &expected[0], report, found),
        "prompts_got" => total(name, "/prompts/got", expected, report, found),
        "prompts_executed" => total(name, "/prompts/executed", expected, report, found),
        "models_unloaded_lines" => total(name, "/unloads/lines", expected, report, found),
        "models_unloaded_sum" => total(name, "/unloads/models", expected, report, found),
        "total_vram_lines" | "starts" | "pin_errors" | "aimdo_errors" => {
            total(name, &format!("/counts/{name}"), expected, report, found);
        }
        "killed_lines" => total(name, "/counts/kills", expected, report, found),
        "got_oom" => total(name, "/counts/oom_unloads", expected, report, found),
        "retry_lines" => total(name, "/counts/attention_retries", expected, report, found),
        "requested_to_load" => by_class(name, "loads", "requested", expected, report, found),
        "dynamic_prepared" => by_class(name, "dynamic", "prepared", expected, report, found),
        "leak_potential" => by_class(name, "leaks", "potential", expected, report, found),
        "leak_warning" => by_class(name, "leaks", "warning", expected, report, found),
        "dynamic_staged_mb" => {
            for (class, value) in expected.as_object().unwrap() {
                let shown = last(report, &format!("/dynamic/{}/staged_mib", key(class)));
                compare(&format!("{name} {class}"), value, shown, found);
            }
        }
        "exceptions" => compare(name, expected, &json!(items(report, "/exceptions").len()), found),
        "exit_code" => compare(name, expected, &report["ending"]["exit_code"], found),
        "cpu_alloc_bytes" | "requested_bytes" => {
            compare(name, expected, first(report, "/host_ooms/0/requested"), found)
        }
        "node" => node(expected, report, found),
        "not_comfyui" => {
            let told = report["verdict"]["headline"].as_str().unwrap_or_default().contains("not of ComfyUI");
            compare(name, expected, &json!(told), found);
        }
        "oom" => oom(expected, report, found),
        "segment" => segment(expected.as_str().unwrap().trim_start_matches("single-step "), report, found),
        "import_failed" => import_failed(expected, report, found),
        _ => found.push(format!("{name}: no test knows this key")),
    }
}

fn compare(name: &str, expected: &Value, shown: &Value, found: &mut Vec<String>) {
    if !equal(expected, shown) {
        found.push(format!("{name}: expected {expected}, got {shown}"));
    }
}

fn fact(name: &str, expected: &Value, report: &Value, found: &mut Vec<String>) {
    compare(name, expected, first(report, &format!("/facts/{name}/value")), found);
}

fn total(name: &str, pointer: &str, expected: &Value, report: &Value, found: &mut Vec<String>) {
    compare(name, expected, &json!(sum(report, pointer)), found);
}

fn by_class(name: &str, table: &str, field: &str, expected: &Value, report: &Value, found: &mut Vec<String>) {
    for (class, value) in expected.as_object().unwrap() {
        let shown = sum(report, &format!("/{table}/{}/{field}", key(class)));
        compare(&format!("{name} {class}"), value, &json!(shown), found);
    }
}

/// The node that failed, in any case: a paste may have lost it.
fn node(expected: &Value, report: &Value, found: &mut Vec<String>) {
    let shown = first(report, "/exceptions/0/node");
    let same = expected.as_str().zip(shown.as_str()).is_some_and(|(one, other)| one.eq_ignore_ascii_case(other));
    if !same {
        found.push(format!("node: expected {expected}, got {shown}"));
    }
}

fn oom(expected: &Value, report: &Value, found: &mut Vec<String>) {
    let Some(shown) = items(report, "/ooms").first().copied() else {
        found.push("oom: none in the report".to_owned());
        return;
    };
    for (name, value) in expected.as_object().unwrap() {
        if NOT_CARRIED.contains(&name.as_str()) {
            continue;
        }
        let field = match (name.as_str(), expected["kind"].as_str()) {
            ("kind", _) => {
                compare("oom kind", value, &shown["kind"], found);
                continue;
            }
            ("tried", _) => "requested",
            ("capacity", Some("fraction")) | ("max", _) => "limit",
            ("other", _) => "other_allocations",
            (name, _) => name,
        };
        let text = shown["texts"].get(field).unwrap_or(&Value::Null);
        compare(&format!("oom {name} (texts.{field})"), value, text, found);
        if value.is_null() != shown[field].is_null() {
            found.push(format!("oom {name}: {field} in bytes is {}", shown[field]));
        }
    }
}

/// A log that shows retries only has no record of an OOM: then the advice must act on the part.
fn segment(part: &str, report: &Value, found: &mut Vec<String>) {
    if !items(report, "/ooms").is_empty() {
        compare("segment", &json!(part), first(report, "/ooms/0/deciding_part"), found);
        return;
    }
    let steps = report["next_steps"].as_array().unwrap();
    let acts = steps.iter().filter_map(|step| step["remedy"].as_str()).any(|id| id.starts_with("act-"));
    if acts != (part == "activations") {
        found.push(format!("segment: no OOM in the report, and the advice is not for {part}"));
    }
}

fn import_failed(expected: &Value, report: &Value, found: &mut Vec<String>) {
    let failed: Vec<String> = items(report, "/custom_nodes")
        .iter()
        .filter(|node| node["failed"] == true)
        .map(|node| folder(node["dir"].as_str().unwrap()))
        .collect();
    for name in texts(expected) {
        if !failed.contains(&folder(name)) {
            found.push(format!("import_failed: {name} is not among {failed:?}"));
        }
    }
    if failed.len() != texts(expected).len() {
        found.push(format!("import_failed: expected {expected}, got {failed:?}"));
    }
}
