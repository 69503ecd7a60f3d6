//! Writes a made-up log of any size, for measurements: `generate_log KIND SIZE [SEED] > FILE`.
//!
//! KIND is one of these, with a dress behind a dash if wanted (`few-ansi`):
//!
//! | kind  | what it is like |
//! |-------|-----------------|
//! | bars  | 73 % of the bytes are redrawn bars, 18 % DEBUG lines; half of the lines are those of *dense* |
//! | few   | 97 of 100 lines are known to no rule: tracebacks, node packs' talk, near misses |
//! | dense | the lines of *bars* without bars and DEBUG, so that each means something: the worst case for the rules |
//! | names | leak warnings whose class names are all different: the worst case for memory |
//!
//! | dress    | what it puts around the lines |
//! |----------|-------------------------------|
//! | stamped  | `[2026-07-09 19:23:55.091] [INFO] ` |
//! | ansi     | a coloured level tag |
//! | utf16    | two bytes per letter, as PowerShell redirects |
//!
//! SIZE is in bytes, or with `K`, `M`, `G`; it counts the plain text, so a dressed log holds the same lines as the
//! plain one. The same KIND, SIZE and SEED give the same bytes.

use std::io::{self, BufWriter, Write};

fn main() -> io::Result<()> {
    let mut args = std::env::args().skip(1);
    let kind = args.next().unwrap_or_default();
    let size = args.next().as_deref().and_then(size);
    let seed = args.next().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let Some(size) = size else { return Err(usage()) };
    let mut out = BufWriter::with_capacity(1 << 20, io::stdout().lock());
    write_log(&kind, size, seed, &mut out)?;
    out.flush()
}

fn usage() -> io::Error {
    io::Error::other("usage: generate_log bars|few|dense|names[-stamped|-ansi|-utf16] SIZE [SEED]")
}

/// Writes the log.
pub fn write_log(kind: &str, size: u64, seed: u64, out: &mut impl Write) -> io::Result<()> {
    let (kind, dress) = kind.split_once('-').unwrap_or((kind, ""));
    let (Some(fill), Some(dress)) = (filler(kind), Dress::named(dress)) else { return Err(usage()) };
    if dress == Dress::Utf16 {
        out.write_all(b"\xff\xfe")?;
    }
    let mut random = Random(seed);
    let mut text = Vec::new();
    let mut written = 0;
    for round in 0.. {
        if written >= size {
            break;
        }
        text.clear();
        fill(&mut random, round, &mut text);
        written += text.len() as u64;
        dress.write(&text, out)?;
    }
    Ok(())
}

fn size(text: &str) -> Option<u64> {
    let number = text.trim_end_matches(['K', 'M', 'G']);
    let scale = match text.trim_start_matches(number) {
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => 1,
    };
    Some(number.parse::<u64>().ok()? * scale)
}

type Fill = fn(&mut Random, u64, &mut Vec<u8>);

fn filler(kind: &str) -> Option<Fill> {
    Some(match kind {
        "bars" => bars,
        "few" => few,
        "dense" => dense,
        "names" => names,
        _ => return None,
    })
}

/// SplitMix64: enough to make lines differ, and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn one_of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u64) as usize]
    }
}

macro_rules! line {
    ($out:expr, $($text:tt)*) => {{
        // Writing to memory does not fail.
        let _ = writeln!($out, $($text)*);
    }};
}

const CLASSES: [&str; 12] = [
    "SDXL",
    "SDXLClipModel",
    "AutoencoderKL",
    "Flux",
    "FluxClipModel_",
    "WAN21",
    "WanTEModel",
    "WanVAE",
    "LTXV",
    "AutoencodingEngine",
    "ControlNet",
    "CLIPVisionModelProjection",
];
const BLOCKS: [&str; 4] = ["double_blocks", "single_blocks", "joint_blocks", "transformer_blocks"];

/// A prompt as ComfyUI tells it, without bars.
fn prompt(random: &mut Random, steps: impl Fn(&mut Random, &mut Vec<u8>), out: &mut Vec<u8>) {
    line!(out, "got prompt");
    line!(out, "model weight dtype torch.float16, manual cast: None");
    line!(out, "model_type FLUX");
    line!(out, "Using pytorch attention in VAE");
    line!(out, "Using pytorch attention in VAE");
    let loads = 1 + random.below(3);
    for _ in 0..loads {
        let class = random.one_of(&CLASSES);
        if random.below(20) == 0 {
            line!(
                out,
                "Potential memory leak detected with model {class}, doing a full garbage collect, for maximum performance avoid circular references in the model code."
            );
            for _ in 0..random.below(3) {
                line!(
                    out,
                    "WARNING, memory leak with model {class}. Please make sure it is not being referenced from somewhere."
                );
            }
        }
        line!(out, "Requested to load {class}");
        if random.below(4) == 0 {
            line!(out, "{} models unloaded.", random.below(4));
        }
        let (usable, loaded) = (random.below(24_000), random.below(12_000));
        match random.below(3) {
            0 => {
                line!(out, "loaded completely {usable}.{} {loaded}.{} True", random.below(10_000), random.below(10_000))
            }
            1 => line!(
                out,
                "loaded completely; {usable}.{:02} MB usable, {loaded}.{:02} MB loaded, full load: True",
                random.below(100),
                random.below(100)
            ),
            _ => line!(
                out,
                "loaded partially; {usable}.{:02} MB usable, {loaded}.{:02} MB loaded, {}.{:02} MB offloaded, lowvram patches: {}",
                random.below(100),
                random.below(100),
                random.below(8000),
                random.below(100),
                random.below(200)
            ),
        }
    }
    steps(random, out);
    line!(out, "Prompt executed in {}.{:02} seconds", random.below(90), random.below(100));
}

fn dense(random: &mut Random, round: u64, out: &mut Vec<u8>) {
    start(round, out);
    prompt(random, |_, _| {}, out);
}

/// The baseline that a server writes once.
fn start(round: u64, out: &mut Vec<u8>) {
    if round > 0 {
        return;
    }
    line!(out, "Total VRAM 24564 MB, total RAM 65367 MB");
    line!(out, "pytorch version: 2.8.0+cu128");
    line!(out, "Set vram state to: NORMAL_VRAM");
    line!(out, "Device: cuda:0 NVIDIA GeForce RTX 4090 : cudaMallocAsync");
    line!(out, "Using pytorch attention");
    line!(out, "Python version: 3.12.11");
    line!(out, "ComfyUI version: 0.3.60");
    line!(out, "Starting server");
    line!(out, "To see the GUI go to: http://127.0.0.1:8188");
}

fn bars(random: &mut Random, round: u64, out: &mut Vec<u8>) {
    start(round, out);
    let modules = |random: &mut Random, out: &mut Vec<u8>| {
        for block in 0..8 {
            let name = random.one_of(&BLOCKS);
            line!(
                out,
                "lowvram: loaded module regularly {name}.{block}.linear{} Linear(in_features=3072, out_features=9216, bias=True)",
                random.below(10)
            );
        }
        for _ in 0..3 {
            redraws(random, out);
        }
    };
    prompt(random, modules, out);
}

/// One bar with all its frames.
fn redraws(random: &mut Random, out: &mut Vec<u8>) {
    let steps = 12 + random.below(17);
    for step in 0..=steps {
        let filled = (step * 10 / steps) as usize;
        let drawn = "█".repeat(filled) + &" ".repeat(10 - filled);
        let (hundredths, left) = (random.below(900) + 30, (steps - step) % 60);
        let _ = write!(
            out,
            "\r{:3}%|{drawn}| {step}/{steps} [00:{:02}<00:{left:02}, {:2}.{:02}it/s]",
            step * 100 / steps,
            step % 60,
            hundredths / 100,
            hundredths % 100
        );
    }
    line!(out, "");
}

const PACKS: [&str; 8] = [
    "ComfyUI-Impact-Pack",
    "ComfyUI-KJNodes",
    "rgthree-comfy",
    "ComfyUI-VideoHelperSuite",
    "was-node-suite-comfyui",
    "ComfyUI_essentials",
    "ComfyUI-Easy-Use",
    "comfyui_controlnet_aux",
];

fn few(random: &mut Random, round: u64, out: &mut Vec<u8>) {
    start(round, out);
    if random.below(52) == 0 {
        prompt(random, |_, _| {}, out);
    }
    for _ in 0..12 {
        chatter(random, out);
    }
    if random.below(5) == 0 {
        line!(out, "lora key not loaded: lora_unet_blocks_{}_attn_qkv.alpha", random.below(40));
    }
    if random.below(64) == 0 {
        traceback(random, out);
    }
    if random.below(3) == 0 {
        // Without the word `Traceback` these lines belong to nothing, as in a paste that begins too late.
        for block in 0..6 {
            line!(
                out,
                "    x = self.blocks[{block}](x, timestep_embedding, context=context, offset={})",
                random.below(4096)
            );
        }
    }
}

/// What a node pack prints of an error that it caught.
fn traceback(random: &mut Random, out: &mut Vec<u8>) {
    let pack = random.one_of(&PACKS);
    line!(out, "Traceback (most recent call last):");
    for file in ["nodes", "pipeline", "samplers", "util"] {
        let line = 1 + random.below(2000);
        line!(out, "  File \"/workspace/ComfyUI/custom_nodes/{pack}/{file}.py\", line {line}, in run_{file}");
        line!(out, "    value = self.{file}(value, mask=mask, strength=strength)");
    }
    line!(out, "ValueError: expected {} tiles, got {}", 1 + random.below(64), random.below(64));
}

fn chatter(random: &mut Random, out: &mut Vec<u8>) {
    let n = random.below(1_000_000);
    let pack = random.one_of(&PACKS);
    match random.below(12) {
        0 => line!(out, "[{pack}] cached {n} entries of the lookup table in 0.{} s", n % 97),
        1 => line!(out, "Requested size {n} does not fit the latent, cropping it to the next multiple"),
        2 => line!(out, "Loading image {n} of the batch from the input folder"),
        3 => line!(out, "model patch {n} was merged into the weights of the current model"),
        4 => line!(out, "    result = self.forward(x, timesteps, context, **kwargs)  # {n}"),
        5 => line!(out, "[DEBUG-{pack}] mask bounds: ({n}, {}, {}, {})", n % 512, n % 768, n % 1024),
        6 => line!(out, "Using seed {n} for the noise of this run, sampler euler, scheduler simple"),
        7 => line!(out, "{pack}: node {} took {} ms", n % 4000, n % 977),
        8 => line!(out, "{{'frame': {n}, 'score': 0.{}, 'label': 'person', 'box': [12, 40, 220, 388]}}", n % 1000),
        9 => line!(out, "  -> wrote output/2026-07-09/ComfyUI_{n:06}_.png (1024 x 1024)"),
        10 => line!(out, "WARNING: {pack} could not find a preview method, falling back to latent2rgb"),
        _ => line!(out, "INFO {n} tensors checked, nothing to do"),
    }
}

fn names(random: &mut Random, round: u64, out: &mut Vec<u8>) {
    start(round, out);
    line!(out, "got prompt");
    for warning in 0..8 {
        let class = format!("Model{:016x}_{round}_{warning}", random.next());
        line!(
            out,
            "Potential memory leak detected with model {class}, doing a full garbage collect, for maximum performance avoid circular references in the model code."
        );
        line!(
            out,
            "WARNING, memory leak with model {class}. Please make sure it is not being referenced from somewhere."
        );
        line!(out, "Requested to load {class}");
    }
    for _ in 0..2 {
        redraws(random, out);
    }
    line!(out, "Prompt executed in 12.50 seconds");
}

/// What is put around the lines.
#[derive(Clone, Copy, PartialEq)]
enum Dress {
    Plain,
    Stamped,
    Ansi,
    Utf16,
}

impl Dress {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "" => Self::Plain,
            "stamped" => Self::Stamped,
            "ansi" => Self::Ansi,
            "utf16" => Self::Utf16,
            _ => return None,
        })
    }

    fn write(self, text: &[u8], out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Plain => out.write_all(text),
            Self::Stamped => each_line(text, b"[2026-07-09 19:23:55.091] [INFO] ", b"", out),
            Self::Ansi => each_line(text, b"\x1b[32m[INFO]\x1b[0m ", b"\x1b[0m", out),
            Self::Utf16 => {
                let wide: Vec<u8> = String::from_utf8_lossy(text).encode_utf16().flat_map(u16::to_le_bytes).collect();
                out.write_all(&wide)
            }
        }
    }
}

/// Bars are written to the terminal as they are, past the logger.
fn each_line(text: &[u8], before: &[u8], after: &[u8], out: &mut impl Write) -> io::Result<()> {
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let logged = line.first().is_some_and(|byte| *byte != b'\r');
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        if logged {
            out.write_all(before)?;
        }
        out.write_all(line)?;
        if logged {
            out.write_all(after)?;
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}
