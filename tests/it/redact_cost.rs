//! What redaction costs grows as the log does, whatever stands in it; and a log that changes meanwhile is not shown.

use std::cell::Cell;
use std::io::Cursor;
use std::time::{Duration, Instant};

use comfy_triage::catalog::Packs;
use comfy_triage::input::{InputError, Source};
use comfy_triage::report::{Open, learn, redactor, write_clean};

/// A log of `bytes` bytes, of pieces that tell their numbers.
fn of(bytes: usize, piece: impl Fn(usize) -> String) -> String {
    let mut text = String::with_capacity(bytes + 256);
    for number in 0.. {
        if text.len() >= bytes {
            break;
        }
        text.push_str(&piece(number));
    }
    text
}

/// Gone through for what is private and written without it; the text, and the time it took.
fn cleaned(log: &str) -> (String, Duration) {
    let mut redactor = redactor(&Packs::built_in());
    let open = || Source::from_reader("x.log", Cursor::new(log.to_owned().into_bytes()));
    let begun = Instant::now();
    let survey = learn(&open, &mut redactor).unwrap();
    let mut out = Vec::new();
    write_clean(&open, &survey, &mut redactor, &mut out).unwrap().unwrap();
    (String::from_utf8(out).unwrap(), begun.elapsed())
}

/// What its number makes of a piece.
type Piece = fn(usize) -> String;

/// Pieces of one line, each of them made to be looked at again and again.
fn hostile() -> Vec<(&'static str, Piece)> {
    vec![
        ("paths", |n| format!("/home/p{}/Trip {n}/output/sea {n}.png D:\\Work {n}\\o{n}.jpg ", n % 500)),
        ("folders of output", |n| format!("/output/a{n} ")),
        ("keys", |n| format!("api_key: \"sk-{n:040x}\" ")),
        ("names of keys", |_| "key=token=KEY_KEY_secret=".to_owned()),
        ("mail", |n| format!("p{n}@mail{}.example-host.de ", n % 777)),
        ("words without an end", |n| format!("p{n}@y{n}.de/-mia-mia-mia-")),
        ("all needles", |_| {
            "prompt: text user host +4917012345 /bot // \\\\ @ # $ : %3a%2f%2f chown CORP\\a ".to_owned()
        }),
        ("dots", |_| "a/b.json,c.png.x.html ".to_owned()),
        ("addresses", |n| format!("10.{}.{}.7:80 https://a.b.c.d.e.f.g.h.{n}.de/?x={n} ", n % 250, n / 250 % 250)),
        ("packs", |n| format!("custom_nodes/mia{n}/mia/home/mia ")),
    ]
}

/// Four times as much takes about four times as long, and nowhere near sixteen times.
#[test]
fn one_line_costs_what_its_length_is_worth() {
    const SMALL: usize = 200 * 1024;
    for (name, piece) in hostile() {
        let best = |bytes: usize| (0..2).map(|_| cleaned(&of(bytes, piece)).1).min().unwrap();
        let (small, large) = (best(SMALL), best(4 * SMALL));
        let ratio = large.as_secs_f64() / small.as_secs_f64().max(0.005);
        assert!(ratio < 9.0, "{name}: {small:?}, four times as much {large:?}");
    }
}

#[test]
fn many_lines_cost_what_they_are_worth() {
    const SMALL: usize = 200 * 1024;
    for (name, piece) in hostile() {
        let best = |bytes: usize| {
            let log = of(bytes, |number| piece(number) + "\n");
            (0..2).map(|_| cleaned(&log).1).min().unwrap()
        };
        let (small, large) = (best(SMALL), best(4 * SMALL));
        let ratio = large.as_secs_f64() / small.as_secs_f64().max(0.005);
        assert!(ratio < 9.0, "{name}: {small:?}, four times as much {large:?}");
    }
}

/// Far into a line, behind thousands of needles, a secret is found as at its beginning.
#[test]
fn a_secret_behind_many_needles_is_found() {
    for (name, piece) in hostile() {
        let log = of(300 * 1024, piece) + " password: Grünkohl77 /home/wendelin/x and wendelin again\n";
        let (clean, _) = cleaned(&log);
        assert!(!clean.contains("Grünkohl77") && !clean.contains("wendelin"), "{name}");
    }
}

/// A log whose lines are others when they are read again: what was noted of them is true of the old ones alone.
#[test]
fn a_log_that_changes_between_two_readings_is_refused() {
    let first = "got prompt\nloaded\nPrompt executed in 0.48 seconds\n";
    for (second, shown) in [
        (first.to_owned(), true),
        (format!("{first}more is appended\n"), true),
        (first.replace("loaded", "sk-0123456789abcdef0123"), false),
        ("got prompt\n".to_owned(), false),
    ] {
        let readings = Cell::new(0);
        let open = || {
            readings.set(readings.get() + 1);
            let text = if readings.get() > 2 { second.clone() } else { first.to_owned() };
            Source::from_reader("x.log", Cursor::new(text.into_bytes()))
        };
        let open: &Open<'_> = &open;
        let mut redactor = redactor(&Packs::built_in());
        let survey = learn(open, &mut redactor).unwrap();
        let written = write_clean(open, &survey, &mut redactor, &mut Vec::new());
        assert_eq!(written.is_ok(), shown, "{second}");
        assert!(shown || matches!(written, Err(InputError::Changed { .. })), "{second}");
    }
}
