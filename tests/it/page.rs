//! Pages: the numbers of pictures are those of the JSON, nothing can be loaded or run, sizes are bounded.
//!
//! What a browser makes of them is tried in `tests/page/`.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

fn real(name: &str) -> String {
    format!("fixtures/case/{name}/console.log")
}

fn output(arguments: &[&str]) -> String {
    let done = crate::case::program().args(arguments).output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

fn page(name: &str, more: &[&str]) -> String {
    output(&[&[&real(name), "--format", "html", "--lang", "en"], more].concat())
}

fn report(name: &str, more: &[&str]) -> Value {
    let text = output(&[&[&real(name), "--format", "json", "--lang", "en"], more].concat());
    serde_json::from_str::<Value>(&text).unwrap()["reports"][0].take()
}

/// The part of a page between two texts.
fn between<'p>(page: &'p str, from: &str, to: &str) -> &'p str {
    let start = page.find(from).unwrap_or_else(|| panic!("no {from}")) + from.len();
    let end = page[start..].find(to).map_or(page.len(), |end| start + end);
    &page[start..end]
}

/// Attributes of every element that has `wanted`, in order.
fn elements(page: &str, wanted: &str) -> Vec<BTreeMap<String, String>> {
    let tag = regex::Regex::new(r"<[a-z]+( [^<>]*)>").unwrap();
    let attribute = regex::Regex::new(r#" ([a-z0-9-]+)="([^"]*)""#).unwrap();
    let of = |text: &str| -> BTreeMap<String, String> {
        attribute.captures_iter(text).map(|found| (found[1].to_owned(), found[2].to_owned())).collect()
    };
    tag.captures_iter(page).map(|found| of(&found[1])).filter(|one| one.contains_key(wanted)).collect()
}

fn number(one: &BTreeMap<String, String>, name: &str) -> f64 {
    one.get(name).unwrap_or_else(|| panic!("no {name} in {one:?}")).trim_end_matches('%').parse().unwrap()
}

fn near(a: f64, b: f64, within: f64) {
    assert!((a - b).abs() <= within, "{a} is not {b}");
}

#[test]
fn the_ladder_shows_the_curve_and_a_flat_one_is_flat() {
    let report = report("a02_strong_leak_25", &[]);
    let page = page("a02_strong_leak_25", &[]);
    let plot = between(&page, "id=\"ladder-1\"", "</svg></div>");
    let points = elements(plot, "data-held");
    let curve = report["sessions"][0]["leaks"]["ZorblaxNet"]["curve"].as_array().unwrap();
    // The first point is the zero before the first one that is told.
    assert_eq!(points.len(), curve.len() + 1);
    for (point, told) in points.iter().skip(1).zip(curve) {
        assert_eq!(number(point, "data-prompt") as u64, told["prompt"].as_u64().unwrap());
        assert_eq!(number(point, "data-held") as u64, told["held"].as_u64().unwrap());
        // 25 prompts, from 0.5 to 25.5, behind 6 % of them for the axis's numbers; 24 models are 150 pixels high, from 172 up.
        near(number(point, "cx"), (number(point, "data-prompt") + 1.0) / 26.5 * 100.0, 0.01);
        near(number(point, "cy"), 172.0 - 150.0 * number(point, "data-held") / 24.0, 0.06);
    }
    let healthy = self::page("a01_healthy_25", &[]);
    let flat = elements(between(&healthy, "id=\"ladder-1\"", "</svg></div>"), "data-held");
    assert_eq!(flat.len(), 2);
    assert!(flat.iter().all(|point| number(point, "data-held") == 0.0 && number(point, "cy") == 172.0));
    assert!(healthy.contains("Flat: no leaked model was reported in 25 prompts."));
}

#[test]
fn the_card_is_to_scale_and_the_request_reaches_over_its_edge() {
    let report = report("044", &[]);
    let page = page("044", &[]);
    let oom = &report["sessions"][0]["ooms"][0];
    let card = &oom["card"];
    let plot = between(&page, "id=\"card-1-0\"", "</svg></div>");
    let now = between(plot, "data-now", "data-part=\"request\"");
    let parts = elements(now, "data-bytes");
    let told = card["parts"].as_array().unwrap();
    assert_eq!(parts.len(), told.len());
    let capacity = card["capacity"].as_f64().unwrap();
    let wall = elements(plot, "data-capacity");
    let edge = number(&wall[0], "x1");
    let boxes: Vec<_> = elements(now, "width");
    for ((part, shape), told) in parts.iter().zip(&boxes).zip(told) {
        assert_eq!(part["data-part"], told["name"].as_str().unwrap());
        let bytes = told["bytes"].as_f64().unwrap();
        near(number(part, "data-bytes"), bytes, 0.5);
        near(number(shape, "width"), bytes / capacity * edge, 0.03);
    }
    let sum: f64 = told.iter().map(|part| part["bytes"].as_f64().unwrap()).sum();
    near(sum / capacity, 1.0, 0.01);
    let request = elements(between(plot, "data-part=\"request\"", "</g>"), "width");
    near(number(&request[0], "width"), oom["requested"].as_f64().unwrap() / capacity * edge, 0.03);
    assert!(number(&request[0], "x") + number(&request[0], "width") > edge, "it is refused since it does not fit");
    assert!(page.contains("moving models cannot help"));
}

#[test]
fn the_limit_is_a_wall_before_what_comfyui_sees() {
    let report = report("132", &[]);
    let page = page("132", &[]);
    let plot = between(&page, "id=\"ram\"", "</svg></div>");
    let ram = &report["sessions"][0]["ram"];
    let wall = elements(plot, "data-limit");
    near(number(&wall[0], "data-limit"), ram["limit_mib"].as_f64().unwrap(), 0.5);
    let rows = elements(plot, "data-ram");
    let row = |id: &str| number(rows.iter().find(|row| row["data-ram"] == id).unwrap(), "data-mib");
    near(row("ram-total"), ram["total_mib"].as_f64().unwrap(), 0.01);
    near(row("ram-loaded"), ram["loaded_mib"].as_f64().unwrap(), 0.01);
    near(number(&wall[0], "x1"), ram["limit_mib"].as_f64().unwrap() / (row("ram-total") * 1.04) * 100.0, 0.01);
    let killed = elements(plot, "data-killed");
    assert_eq!(number(&killed[0], "data-killed") as u64, ram["killed_line"].as_u64().unwrap());
}

#[test]
fn prompts_loads_and_times_are_those_of_the_report() {
    for name in ["a02_strong_leak_25", "a06_oom_three_kinds", "a12_split_streams_stderr", "a16_pty_mixed"] {
        let report = report(name, &[]);
        let page = page(name, &[]);
        let plot = between(&page, "id=\"timeline\"", "</svg></div>");
        let told: Vec<&Value> =
            report["sessions"].as_array().unwrap().iter().flat_map(|one| one["timeline"].as_array().unwrap()).collect();
        let bars = elements(plot, "data-outcome");
        assert_eq!(bars.len(), told.len(), "{name}");
        for (bar, told) in bars.iter().zip(&told) {
            assert_eq!(number(bar, "data-prompt") as u64, told["number"].as_u64().unwrap());
            assert_eq!(bar["data-outcome"], told["outcome"].as_str().unwrap());
            assert_eq!(bar.get("data-seconds").and_then(|text| text.parse().ok()), told["seconds"].as_f64());
        }
        let marks: Vec<&Value> =
            report["sessions"].as_array().unwrap().iter().flat_map(|one| one["marks"].as_array().unwrap()).collect();
        for mark in elements(plot, "data-kind") {
            let same = |told: &&&Value| {
                told["kind"] == mark["data-kind"].as_str()
                    && told["mib"].as_f64() == mark.get("data-mib").and_then(|text| text.parse().ok())
                    && told["count"].as_u64() == mark.get("data-count").and_then(|text| text.parse().ok())
            };
            assert!(marks.iter().any(|told| same(&told)), "{name}: {mark:?}");
        }
    }
}

#[test]
fn the_time_of_a_prompt_is_split_by_its_bars() {
    let report = report("a30_bisect_s1_none", &[]);
    let page = page("a30_bisect_s1_none", &[]);
    let plot = between(&page, "id=\"budget-1\"", "</svg></div>");
    let told = report["sessions"][0]["timeline"].as_array().unwrap();
    for prompt in told {
        let id = format!("<g data-prompt=\"{}\" data-seconds", prompt["number"]);
        let parts = elements(between(plot, &id, "</g>"), "data-part");
        let of =
            |name: &str| parts.iter().find(|part| part["data-part"] == name).map(|part| number(part, "data-seconds"));
        let steps = of("steps").unwrap();
        near(steps, prompt["step_seconds"].as_f64().unwrap(), 1e-5);
        near(steps + of("rest").unwrap() + of("load").unwrap_or(0.0), prompt["seconds"].as_f64().unwrap(), 1e-5);
    }
}

#[test]
fn a_page_loads_nothing_and_runs_only_its_own_script() {
    for (name, more) in
        [("a02_strong_leak_25", &[][..]), ("a02_strong_leak_25", &["--lang", "zh"]), ("044", &["--redact"])]
    {
        let arguments: Vec<&str> = more.to_vec();
        let page = output(&[&[real(name).as_str(), "--format", "html"], arguments.as_slice()].concat());
        let policy = between(&page, "Content-Security-Policy\" content=\"", "\"");
        assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(page.matches("<script").count(), 1);
        assert_eq!(page.matches("<style").count(), 1);
        for forbidden in [
            "<img", "<iframe", "<link", "<object", "<form", "<base", " src=", " style=", " onload=", "@import",
            "url(http",
        ] {
            assert!(!page.contains(forbidden), "{forbidden}");
        }
        let opened = page.matches("<svg").count();
        assert!(opened >= 3, "{name}: {opened} pictures");
    }
}

#[test]
fn the_page_of_a_leak_has_three_pictures_and_is_small() {
    for name in ["a02_strong_leak_25", "b02_strong_leak_25"] {
        let page = page(name, &[]);
        assert!(page.matches("<figure").count() >= 3, "{name}");
        assert!(page.len() < 300 * 1024, "{name}: {} bytes", page.len());
    }
}

#[test]
fn every_link_within_a_page_leads_somewhere() {
    for name in ["a02_strong_leak_25", "a17_sigkill_launcher", "044", "065"] {
        let page = page(name, &[]);
        let ids: Vec<String> = elements(&page, "id").into_iter().map(|mut one| one.remove("id").unwrap()).collect();
        let mut once = ids.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), ids.len(), "{name}: an id stands twice");
        for link in elements(&page, "href") {
            let href = &link["href"];
            let inside = href.strip_prefix('#');
            assert!(inside.is_none_or(|id| ids.iter().any(|known| known == id)), "{name}: {href}");
        }
    }
}

#[test]
fn ten_thousand_prompts_are_put_together_and_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("night.log");
    let mut text = "Total VRAM 24576 MB, total RAM 65536 MB\nStarting server\n".to_owned();
    for prompt in 0..10_000 {
        text.push_str("got prompt\nRequested to load Flux\nloaded completely 22000.0 11350.0 True\n");
        text.push_str(&format!("Prompt executed in {}.50 seconds\n", 4 + prompt % 3));
    }
    fs::write(&log, text).unwrap();
    let log = log.to_str().unwrap();
    let page = output(&[log, "--format", "html", "--lang", "en"]);
    assert!(page.len() < 1_500 * 1024, "{} bytes", page.len());
    assert!(page.contains("There are 10000 prompts: each bar stands for up to 64 of them."));
    let bars = elements(between(&page, "id=\"timeline\"", "</svg></div>"), "data-ok");
    assert_eq!(bars.iter().map(|bar| number(bar, "data-ok")).sum::<f64>(), 10_000.0);
}

#[test]
fn an_answer_goes_to_a_file_and_never_over_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("comfyui.log");
    fs::copy(real("044"), &log).unwrap();
    let page = folder.path().join("page.html");
    let run = |arguments: &[&str]| crate::case::program().arg(&log).args(arguments).output().unwrap();
    let done = run(&["--format", "html", "-o", page.to_str().unwrap()]);
    assert_eq!((done.status.code(), done.stdout.len()), (Some(0), 0));
    assert!(fs::read_to_string(&page).unwrap().starts_with("<!DOCTYPE html>"));
    let before = fs::read(&log).unwrap();
    let refused = run(&["-o", log.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("it is not written over"));
    assert_eq!(fs::read(&log).unwrap(), before);
}

#[cfg(unix)]
#[test]
fn a_page_is_opened_beside_its_log() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("comfyui.log");
    fs::copy(real("044"), &log).unwrap();
    let opener = folder.path().join("xdg-open");
    fs::write(&opener, "#!/bin/sh\n/bin/echo \"$1\" > \"${0%/*}/opened\"\n").unwrap();
    fs::set_permissions(&opener, fs::Permissions::from_mode(0o755)).unwrap();
    let done = crate::case::program()
        .args([log.to_str().unwrap(), "--open", "--lang", "en"])
        .env("PATH", folder.path())
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
    let page = folder.path().join("comfyui.log.html");
    assert!(fs::read_to_string(&page).unwrap().contains("One step asked for 66.10 GiB"));
    assert!(String::from_utf8_lossy(&done.stderr).contains("Page written to"));
    let opened = folder.path().join("opened");
    let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while !opened.exists() && std::time::Instant::now() < until {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(fs::read_to_string(&opened).unwrap_or_default().trim(), page.to_str().unwrap());
}

#[test]
fn the_terminal_shows_the_ladder_and_the_card_in_small() {
    let text = |name: &str, locale: &str| {
        let done = crate::case::program()
            .args([&real(name), "--verbose", "--lang", "en"])
            .env("LC_ALL", locale)
            .env("COLUMNS", "80")
            .output()
            .unwrap();
        String::from_utf8(done.stdout).unwrap()
    };
    let leak = text("a02_strong_leak_25", "C.UTF-8");
    assert!(leak.contains("ZorblaxNet                   ▁▂▂▂▃▃▃▄▄▄▄▅▅▅▆▆▆▆▇▇▇████ 24 (25 prompts)"), "{leak}");
    assert!(text("a02_strong_leak_25", "C").contains("ZorblaxNet                   _...---====++"));
    let card = text("044", "C");
    assert!(
        card.contains("W weights of WAN22 9.25 GiB (measured)") && card.contains("X refused request 66.10 GiB"),
        "{card}"
    );
    assert!(card.lines().filter(|line| line.contains("wwww")).all(|line| line.len() <= 80));
}
