//! Throws changed inputs at one door of the program until the time is up, on a stable compiler: see README.md.

mod mutate;
mod target;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Parser;
use comfy_triage::catalog::Packs;

use mutate::{Dice, mutated};
use target::Target;

/// An input that takes longer is a fault.
const PATIENCE: Duration = Duration::from_secs(10);
/// Inputs that are kept for later runs.
const KEPT: usize = 400;
/// Bytes of such an input.
const SMALL: usize = 4 * 1024;

#[derive(Parser)]
struct Call {
    target: Target,
    /// How long
    #[arg(long, default_value = "60")]
    seconds: u64,
    /// Where the numbers begin: the same seed gives the same inputs
    #[arg(long, default_value = "1")]
    seed: u64,
}

fn main() {
    let call = Call::parse();
    let name = format!("{:?}", call.target).to_lowercase();
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (corpus, findings) = (home.join("corpus").join(&name), home.join("findings").join(&name));
    std::fs::create_dir_all(&corpus).expect("the corpus can be written");
    let packs = Packs::built_in();
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let mut inputs = call.target.seeds();
    let seeds = inputs.len();
    inputs.extend(stored(&corpus).iter().filter_map(|path| std::fs::read(path).ok()));
    let mut dice = Dice::new(call.seed);
    let (mut runs, mut faults, mut seen) = (0_u64, 0_u64, BTreeSet::new());
    let begun = Instant::now();
    let mut next = 0;
    while begun.elapsed() < Duration::from_secs(call.seconds) {
        // First all inputs as they are, then changed ones.
        let fresh = next >= inputs.len();
        let input = if fresh {
            let (one, other) = (dice.below(inputs.len()), dice.below(inputs.len()));
            mutated(&inputs[one], &inputs[other], &mut dice)
        } else {
            inputs[next].clone()
        };
        next += 1;
        let started = Instant::now();
        let did = catch_unwind(AssertUnwindSafe(|| call.target.run(&input, &packs, scratch.path())));
        runs += 1;
        match did {
            Ok(did) if started.elapsed() < PATIENCE => {
                let new = seen.insert(did) && fresh;
                if new && inputs.len() < seeds + KEPT {
                    if input.len() <= SMALL {
                        keep(&corpus, &input);
                    }
                    inputs.push(input);
                    next = inputs.len();
                }
            }
            did => {
                faults += 1;
                keep(&findings, &input);
                println!("{}", if did.is_ok() { "slow" } else { "panic" });
            }
        }
    }
    println!("{name}: {runs} inputs in {} s, {} ways, {faults} faults", begun.elapsed().as_secs(), seen.len());
    std::process::exit(i32::from(faults > 0));
}

/// The files of a folder, in order.
fn stored(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect();
    all.sort();
    all
}

/// Writes an input under a name that its bytes give.
fn keep(folder: &Path, input: &[u8]) {
    let hash = input.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3));
    std::fs::create_dir_all(folder).expect("the folder can be written");
    std::fs::write(folder.join(format!("{hash:016x}")), input).expect("the input can be written");
}
