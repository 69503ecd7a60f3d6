//! The reading layer as a whole: what a sink gets for whole inputs, and that blocks do not matter.

use super::*;
use proptest::prelude::*;

/// What a sink got, owned.
#[derive(Debug, Clone, PartialEq)]
enum Got {
    Text { place: Place, text: String, indent: u32, stamp: Option<String>, level: Option<Level>, flags: String },
    Bar(Place, Bar),
}

#[derive(Default)]
struct Keep(Vec<Got>);

impl Sink for Keep {
    fn segment(&mut self, s: &Segment<'_>) {
        let lossy = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
        let flags = [(s.tagged, 't'), (s.prompted, 'p'), (s.glued, 'g'), (s.cut, 'c')];
        let flags = flags.iter().filter(|(on, _)| *on).map(|(_, c)| *c).collect();
        self.0.push(Got::Text {
            place: s.place,
            text: lossy(s.text),
            indent: s.indent,
            stamp: s.stamp.map(lossy),
            level: s.level,
            flags,
        });
    }
    fn bar(&mut self, place: Place, bar: Bar) {
        self.0.push(Got::Bar(place, bar));
    }
}

fn run(bytes: &[u8], block_size: usize) -> (Vec<Got>, Intake) {
    let mut keep = Keep::default();
    let source = Source::from_reader("test", bytes).unwrap();
    let intake = read(source, &mut keep, &ReadOptions { block_size }).unwrap();
    (keep.0, intake)
}

const SIZES: [usize; 7] = [1, 2, 3, 37, 64, 4096, 1 << 20];

/// Short form: `line.part@entry flags text` or `line.part done/total`.
fn short(bytes: &[u8]) -> Vec<String> {
    let first = run(bytes, 1 << 18);
    for size in SIZES {
        assert_eq!(run(bytes, size), first, "block size {size}");
    }
    first.0.iter().map(shorten).collect()
}

fn shorten(got: &Got) -> String {
    let place = |p: &Place| {
        let part = if p.segment > 0 { format!(".{}", p.segment) } else { String::new() };
        let entry = if p.entry > 0 { format!("@{}", p.entry) } else { String::new() };
        format!("{}{part}{entry}", p.line)
    };
    match got {
        Got::Text { place: p, text, flags, .. } if flags.is_empty() => format!("{} {text}", place(p)),
        Got::Text { place: p, text, flags, .. } => format!("{} {flags}: {text}", place(p)),
        Got::Bar(p, bar) => format!("{} {}/{}", place(p), bar.done, bar.total),
    }
}

#[test]
fn whole_inputs() {
    let table: &[(&str, &[&str])] = &[
        ("got prompt\nRequested to load Flux\n", &["1 got prompt", "2 Requested to load Flux"]),
        ("got prompt\r\n\r\n  File \"x\"\r\n", &["1 got prompt", "3 File \"x\""]),
        ("a\r\r\nb", &["1.1 a", "2 c: b"]),
        (
            "{\"log\":\"got prompt\\n\",\"stream\":\"stderr\"}\n{\"log\":\"\\r100%|██| 2/2 [00:02<00:00,  1.00s/it]\\n\",\"stream\":\"stderr\"}\n{\"log\":\"    ^^^^ 模型 5%\\n\",\"stream\":\"stderr\"}\n",
            &["1 got prompt", "2.1 2/2", "3 ^^^^ 模型 5%"],
        ),
        (
            "  0%|  | 0/2 [00:00<?, ?it/s]\r 50%|# | 1/2 [00:01<00:01,  1.00s/it]\r100%|##| 2/2 [00:02<00:00,  1.00s/it]\nPrompt executed in 2.50 seconds\n",
            &["1.3 2/2", "2 Prompt executed in 2.50 seconds"],
        ),
        (
            "\r  0%|          | 0/200 [00:00<?, ?it/s]\r 26%|█| 52/200 [00:03<00:09, 14.93it/s]Global interrupt\n",
            &["1.3 52/200", "1.4 g: Global interrupt"],
        ),
        (
            "Loading model:  50%|█ | 652/1304 [00:41<00:00, 31.6it/s]\rLoading model: 100%|██| 1304/1304 [00:41<00:00, 31.6it/s]\r  0%|  | 0/6 [00:00<?, ?it/s]\r\n",
            &["1.2 1304/1304", "1.3 0/6"],
        ),
        ("  0%|  | 0/20 [00:00<?, ?it/s] 50%|# | 10/20 [00:01<00:01, 9.00it/s]\n", &["1.2 10/20"]),
        ("100%|██████████| 20/20 [00:13<00:00,  1.50it/s]          \nx\n", &["1.1 20/20", "2 x"]),
        (" 27%|██▋  | 8/30 [00:00<00:02,  9.3", &["1.1 8/30"]),
        ("> \x1b[32m[INFO]\x1b[0m got prompt\n", &["1 t: got prompt"]),
        (">   0%|  | 0/2 [00:00<?, ?it/s]\r 50%|# | 1/2 [00:02<00:01,  1.32s/it]\n", &["1.2 1/2"]),
        ("comfyui  | got prompt\n100% 4/4 [04:31<00:00, 67.90s/it]\n", &["1 got prompt", "2.1 4/4"]),
        ("[INFO] \n\nPrestartup times\nx\n", &["3 Prestartup times", "4 x"]),
        ("[INFO]\nPrestartup times\nx\n", &["2 t: Prestartup times", "3 x"]),
        (
            "$ python main.py \\\n   --listen \\\n   --lowvram\ngot prompt\n",
            &["1 p: python main.py \\", "2 p: --listen \\", "3 p: --lowvram", "4 got prompt"],
        ),
        (
            "2026-07-14T14:40:29.173991 - [START] Security scan2026-07-14T14:40:29.173991 - \n",
            &["1 [START] Security scan"],
        ),
        (
            "2026-09-12T14:12:46.616303 - ** Python executable:2026-09-12T14:12:46.616305 -  2026-09-12T14:12:46.616307 - D:\\x.exe2026-09-12T14:12:46.616309 - \r\n",
            &["1 ** Python executable: D:\\x.exe"],
        ),
        (
            "2026-11-30T09:22:15.087752 - \r  0%|  | 0/8 [00:00<?, ?it/s]2026-11-30T09:22:16.087752 - \r100%|██| 8/8 [00:01<00:00, 8.00it/s]2026-11-30T09:22:17.087752 - \n2026-11-30T09:22:18.087752 - got prompt\n",
            &["1.3 8/8", "2 got prompt"],
        ),
        ("one\rtwo\rthree", &["1.1 one", "1.2 two", "1.3 c: three"]),
        ("a\0\0\0\n\0\0\0\0", &["1 a"]),
        (
            "  0%|  | 0/8 [00:00<?, ?it/s,   Model Initializing ...  ]Interrupting prompt 1\n",
            &["1.1 0/8", "1.2 g: Interrupting prompt 1"],
        ),
        ("Pin error.      Pin error.\n", &["1 Pin error.      Pin error."]),
        ("3it [00:01,  2.00it/s]\r5it [00:02,  2.00it/s]\nx\n", &["2 x"]),
        ("{'a': 1}\n[START] Security scan\n", &["1 {'a': 1}", "2 [START] Security scan"]),
        ("[{\"broken\": \n", &["1 [{\"broken\":"]),
    ];
    for (input, expected) in table {
        assert_eq!(short(input.as_bytes()), *expected, "{input}");
    }
}

#[test]
fn json_logs_and_values() {
    let raw = r#"{
 "raw": {"entries": [
  {"t": "2026-11-30T09:19:11.686567", "m": "got "},
  {"t": "2026-11-30T09:19:11.686568", "m": "prompt\nsecond\n"},
  {"t": "2026-11-30T09:19:12.686568", "m": "\r 50%|#| 1/2 [00:01<00:01, 1.00s/it]"},
  {"t": "2026-11-30T09:19:13.686568", "m": "\u001b[32m[INFO]\u001b[0m x\n"}
 ], "size": {"cols": 80, "rows": 24}}}"#;
    assert_eq!(short(raw.as_bytes()), ["3@1 got prompt", "4@2 second", "5.2@3 1/2", "5.3@3 tg: x"]);
    let (got, intake) = run(raw.as_bytes(), 100);
    let Some(Got::Text { place, stamp, .. }) = got.first() else { panic!("a text") };
    assert_eq!(stamp.as_deref(), Some("2026-11-30T09:19:11.686567"));
    assert!(
        raw.get(place.byte as usize..).is_some_and(|rest| rest.starts_with("{\"t\": \"2026-11-30T09:19:11.686567\""))
    );
    assert_eq!((intake.json, intake.lines, intake.newline), (Some(JsonKind::Log), 7, "lf"));

    let text =
        r#"{"GET /internal/logs": "2026-11-30T09:22:05.087752 - got prompt\n2026-11-30T09:22:05.153682 - second\n"}"#;
    assert_eq!(short(text.as_bytes()), ["1@1 got prompt", "1@2 second"]);
    assert_eq!(short(br#""a\nb\n""#), ["1@1 a", "1@2 b"]);

    let stats = "{\"system\": {\"comfyui_version\": \"0.33.0\", \"argv\": [\"main.py\", \"--lowvram\"], \"x\": null},\n \"devices\": [{\"vram_total\": 5}],\n \"e\": {\"m\": \"first\\n  second\", \"tb\": [\"  File a\\n    b\\n\", \"  File c\\n\"]}}";
    assert_eq!(
        short(stats.as_bytes()),
        [
            "1 /system/comfyui_version = 0.33.0",
            "1 /system/argv = main.py --lowvram",
            "1 /system/x = null",
            "2 /devices/0/vram_total = 5",
            "3 /e/m = first",
            "3 second",
            "3 /e/tb =",
            "3 File a",
            "3 b",
            "3 File c",
        ]
    );
}

#[test]
fn wide_and_legacy_inputs_keep_their_places() {
    let text =
        "got prompt\r\n模型 [x]\r\n  0%|█ | 0/2 [00:00<?, ?it/s]\r 50%|█ | 1/2 [00:01<?, ?it/s]\r\n😀 end\r\nlast";
    let wide: Vec<u8> = [0xff_u8, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    assert_eq!(short(&wide), ["1 got prompt", "2 模型 [x]", "3.2 1/2", "4 😀 end", "5 c: last"]);
    let (got, intake) = run(&wide, 1000);
    assert_eq!((intake.encoding, intake.newline, intake.cut_end, intake.lines), ("utf-16le-bom", "crlf", true, 5));
    for got in &got {
        if let Got::Text { place, text, .. } = got {
            let first: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            assert!(wide[place.byte as usize..].starts_with(&first), "{text}");
        }
    }

    let (line, _, _) = encoding_rs::GBK.encode("系统信息\r\n系统\r\n启动参数\r\n");
    let gbk = [b"got prompt\r\n", &line[..], b"Prompt executed in 1.00 seconds\r\n"].concat();
    assert_eq!(
        short(&gbk),
        ["1 got prompt", "2 系统信息", "3 系统", "4 启动参数", "5 Prompt executed in 1.00 seconds"]
    );
    let (_, intake) = run(&gbk, 1000);
    assert_eq!((intake.encoding, intake.invalid_lines), ("gbk", 2));
    assert_eq!(short(b"caf\xe9 ok\n"), ["1 caf\u{fffd} ok"]);
}

#[test]
fn long_lines_are_cut_and_counted() {
    let long = [vec![b'x'; split::LONGEST + 5], b"\nnext\n".to_vec(), vec![b'y'; split::LONGEST], b"\r\nend".to_vec()]
        .concat();
    let first = run(&long, 1 << 18);
    for size in [1000, 4096, 1 << 20, 1 << 22] {
        assert_eq!(run(&long, size), first, "{size}");
    }
    assert_eq!(first.1.long_lines, 1);
    let lengths: Vec<(u64, usize, u64)> = first
        .0
        .iter()
        .filter_map(|got| match got {
            Got::Text { place, text, .. } => Some((place.line, text.len(), place.byte)),
            Got::Bar(..) => None,
        })
        .collect();
    let end = long.len() as u64 - 3;
    assert_eq!(lengths, [(1, split::LONGEST, 0), (2, 4, 1_048_582), (3, split::LONGEST, 1_048_587), (4, 3, end)]);
}

#[test]
fn intake_tells_what_it_was() {
    let intake = |bytes: &[u8]| run(bytes, 1000).1;
    assert_eq!(intake(b"a\nb").newline, "lf");
    assert!(intake(b"a\nb").cut_end);
    assert_eq!(intake(b"a\nb").lines, 2);
    assert_eq!(intake(b"a\nb\n").lines, 2);
    assert_eq!(intake(b"a\rb\r").newline, "cr");
    assert_eq!(intake(b"\xef\xbb\xbfa\n").encoding, "utf-8-bom");
    assert_eq!(intake(b"Aug 05 12:00:00 h python[1]: [197B blob data]\n").blob_lines, 1);
    assert_eq!(intake(b"a\n\nb\nc\nd\n").sample, ["a", "b", "c"]);
    assert!(!intake(b"got prompt\n\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0").looks_binary);
    assert!(intake(&(0..=255).cycle().take(9000).collect::<Vec<u8>>()).looks_binary);
    assert!(matches!(
        read(Source::from_reader("x", &b""[..]).unwrap(), &mut Keep::default(), &ReadOptions::default()),
        Err(InputError::Empty { .. })
    ));
}

struct Failing(usize);
impl std::io::Read for Failing {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0 += 1;
        if self.0 > 6 {
            return Err(std::io::Error::other("the disk is gone"));
        }
        buffer.iter_mut().for_each(|b| *b = b'a');
        Ok(buffer.len())
    }
}

#[test]
fn errors_half_way_keep_what_was_read() {
    let mut keep = Keep::default();
    let intake =
        read(Source::from_reader("x", Failing(0)).unwrap(), &mut keep, &ReadOptions { block_size: 10 }).unwrap();
    assert_eq!(intake.truncated_by_error.as_deref(), Some("the disk is gone"));
    assert_eq!(keep.0.len(), 1);
    let error =
        read(Source::from_reader("x", &b"\x1f\x8bjunk"[..]).unwrap(), &mut keep, &ReadOptions::default()).unwrap_err();
    assert!(matches!(error, InputError::Corrupt { .. }));
}

/// Pieces that meet all the special cases.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let known: Vec<&[u8]> = vec![
        b"\n",
        b"\r",
        b"\r\n",
        b" ",
        b"\x1b[32m",
        b"^[[0m",
        b"[INFO] ",
        b"got prompt",
        b"  5%|#  | 1/20 [00:00<00:15,  1.22it/s]",
        b"100%|\xe2\x96\x88| 20/20 [00:10<00:00, 2.00it/s, x=1]",
        b" 36/80 [00:02<00:03, 14.",
        b"2026-07-14T14:40:29.173991 - ",
        b"\xcf\xb5\xcd\xb3",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"\0",
        b"%",
        b"%|",
        b"> ",
        b"$ ",
        b"C:\\x>",
        b"9\xe6\x9c\x88 08 09:15:40 h p[1]: ",
        b"comfyui-1  | ",
        b"{\"a\":1}",
        b"{\"m\":\"x\\n\"}",
        b"[",
        b"{",
        b"\"",
        b"]",
        b"'",
        b"\\",
        b"Loading: ",
        b"it [00:01, 2.0it/s]",
        b"ERROR:root:",
        b"(venv) ",
    ];
    let piece = prop_oneof![
        4 => proptest::sample::select(known).prop_map(<[u8]>::to_vec),
        1 => proptest::collection::vec(any::<u8>(), 0..12),
    ];
    proptest::collection::vec(piece, 1..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn blocks_do_not_matter(bytes in pieces(), size in 1_usize..200) {
        prop_assume!(!bytes.is_empty() && !bytes.starts_with(b"\x1f\x8b"));
        let first = run(&bytes, 1 << 18);
        for size in [1, 2, size, 64] {
            prop_assert_eq!(&run(&bytes, size), &first);
        }
        for got in &first.0 {
            if let Got::Text { place, .. } = got {
                prop_assert!(place.line >= 1 && place.line <= first.1.lines && place.byte < first.1.bytes);
            }
        }
    }

    #[test]
    fn arbitrary_bytes(bytes in proptest::collection::vec(any::<u8>(), 1..6000)) {
        prop_assume!(!bytes.starts_with(b"\x1f\x8b"));
        let first = run(&bytes, 1 << 18);
        for size in [37, 4096] {
            prop_assert_eq!(&run(&bytes, size), &first);
        }
    }
}
