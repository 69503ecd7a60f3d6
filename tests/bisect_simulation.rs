//! The search in thousands of made-up installs with a known truth, each made from a seed.
//!
//! What is counted as a round: every start of ComfyUI after the log that `bisect start` read, with the control
//! round, repeats, rounds that could not run, and both confirmations.
#![allow(clippy::unwrap_used)] // a test may panic

mod bisect_world;

use bisect_world::{Dice, World, search};
use comfy_triage::bisect::{Outcome, UnitSet, expected_rounds};

fn one(unit: usize) -> UnitSet {
    UnitSet::from_iter([unit])
}

#[test]
fn one_culprit_is_found_in_time_whoever_it_is() {
    for units in 1..=120 {
        for culprit in 0..units {
            let world = World::new(units, vec![one(culprit)], 1.0);
            let ended = search(&world, true, 1, &mut Dice::new(0));
            assert_eq!(ended.named(), [one(culprit)], "{units} packs");
            assert!(ended.rounds <= expected_rounds(units) as usize, "{units} packs, {culprit}: {} rounds", ended.rounds);
        }
    }
}

#[test]
fn steady_worlds_of_all_kinds_are_solved_exactly() {
    for seed in 0..6000 {
        let mut dice = Dice::new(seed);
        let units = dice.within(1, 120);
        let faults = match seed % 4 {
            0 => vec![one(dice.within(0, units - 1))],
            1 => dice.units(units, 2).iter().map(one).collect(),
            2 => vec![dice.units(units, 2)],
            _ => vec![dice.units(units, 3)],
        };
        let world = World::new(units, faults.clone(), 1.0);
        let ended = search(&world, true, 1, &mut dice);
        let mut wanted = faults;
        wanted.sort();
        assert_eq!(ended.named(), wanted, "seed {seed}: {ended:?}");
        assert!(matches!(ended.outcome, Outcome::Culprits { .. }));
    }
}

/// Worlds with a symptom that does not show every time, and how their searches ended.
#[derive(Debug, Default)]
struct Count {
    worlds: usize,
    right: usize,
    part: usize,
    cannot_tell: usize,
    wrong: usize,
    not_the_units: usize,
    rounds: usize,
}

fn count(seeds: std::ops::Range<u64>, steady: bool, make: impl Fn(&mut Dice) -> World) -> Count {
    let mut count = Count::default();
    for seed in seeds {
        let mut dice = Dice::new(seed);
        let world = make(&mut dice);
        let ended = search(&world, steady, 1, &mut dice);
        let mut truth = world.faults.clone();
        truth.sort();
        let named = ended.named();
        count.worlds += 1;
        count.rounds += ended.rounds;
        if named.iter().any(|group| !truth.contains(group)) {
            count.wrong += 1;
        } else if matches!(ended.outcome, Outcome::NotTheUnits { .. }) {
            count.not_the_units += 1;
        } else if matches!(ended.outcome, Outcome::CannotTell { .. }) {
            count.cannot_tell += 1;
        } else if named == truth {
            count.right += 1;
        } else {
            count.part += 1;
        }
    }
    count
}

#[test]
#[ignore]
fn explore() {
    for rate in [0.5, 0.6, 0.7, 0.8, 0.9, 0.95] {
        for steady in [false, true] {
            let single = count(0..500, steady, |dice| { let units = dice.within(1, 120); World::new(units, vec![one(dice.within(0, units - 1))], rate) });
            let two = count(0..500, steady, |dice| { let units = dice.within(2, 120); World::new(units, dice.units(units, 2).iter().map(one).collect(), rate) });
            let pair = count(0..300, steady, |dice| { let units = dice.within(2, 120); World::new(units, vec![dice.units(units, 2)], rate) });
            let core = count(0..2000, steady, |dice| { let units = dice.within(1, 120); World::new(units, vec![UnitSet::new()], rate) });
            println!("rate {rate} steady {steady}");
            for (name, c) in [("single", single), ("two", two), ("pair", pair), ("core", core)] {
                println!("   {name}: rounds {:.1} {c:?}", c.rounds as f64 / c.worlds as f64);
            }
        }
    }
}
