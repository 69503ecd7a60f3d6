//! Made-up installs with a known truth, and the search run in them to its end.

use comfy_triage::bisect::{Group, Next, Outcome, Problem, Round, Seen, UnitSet, next};

/// SplitMix64: a small generator with a seed, so that each world can be made again.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5DEE_CE66_D1CE_4E5B)
    }

    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number in `low..=high`.
    pub fn within(&mut self, low: usize, high: usize) -> usize {
        low + (self.roll() % (high - low + 1) as u64) as usize
    }

    /// True in `share` of all rolls.
    pub fn chance(&mut self, share: f64) -> bool {
        ((self.roll() >> 11) as f64 / (1u64 << 53) as f64) < share
    }

    /// `count` different units of `0..units`.
    pub fn units(&mut self, units: usize, count: usize) -> UnitSet {
        let mut set = UnitSet::new();
        while set.len() < count.min(units) {
            set.insert(self.within(0, units - 1));
        }
        set
    }
}

/// An install.
#[derive(Debug, Clone)]
pub struct World {
    pub units: usize,
    /// Each group has the fault when all of it is on. An empty group: it is there with nothing on.
    pub faults: Vec<UnitSet>,
    /// The symptom shows in this share of the runs that have a fault.
    pub rate: f64,
    /// Units without which the work cannot run at all.
    pub workflow: UnitSet,
    /// The first does not work without the second.
    pub needs: Vec<(usize, usize)>,
    /// A run that fails tells which unit is missing.
    pub tells: bool,
}

impl World {
    pub fn new(units: usize, faults: Vec<UnitSet>, rate: f64) -> Self {
        Self { units, faults, rate, workflow: UnitSet::new(), needs: Vec::new(), tells: true }
    }

    fn run(&self, on: &UnitSet, dice: &mut Dice) -> Seen {
        let broken: UnitSet =
            self.needs.iter().filter(|(a, b)| on.contains(*a) && !on.contains(*b)).map(|(a, _)| *a).collect();
        let missing = self.workflow.without(&on.without(&broken));
        if !missing.is_empty() || !broken.is_empty() {
            let needed = self.needs.iter().filter(|(a, _)| broken.contains(*a)).map(|(_, b)| *b).collect();
            let keep = if broken.is_empty() { missing } else { needed };
            return Seen::CannotRun { keep: if self.tells { keep } else { UnitSet::new() }, broken };
        }
        let faulty = self.faults.iter().any(|fault| fault.within(on));
        if faulty && dice.chance(self.rate) { Seen::Bad } else { Seen::Good }
    }
}

/// How a search ended.
#[derive(Debug)]
pub struct Ended {
    pub outcome: Outcome,
    pub rounds: usize,
}

impl Ended {
    /// Groups that were named, in rising order.
    pub fn named(&self) -> Vec<UnitSet> {
        let groups: &[Group] = match &self.outcome {
            Outcome::Culprits { groups } | Outcome::CannotTell { groups, .. } => groups,
            Outcome::NotTheUnits { .. } => &[],
        };
        let mut named: Vec<UnitSet> = groups.iter().map(|group| group.units.clone()).collect();
        named.sort();
        named
    }
}

/// Runs the search to its end.
pub fn search(world: &World, steady: bool, runs: u32, dice: &mut Dice) -> Ended {
    search_through(world, steady, runs, None, dice)
}

/// The same with a user who cannot test round `skipped`.
pub fn search_with_a_skip(world: &World, skipped: usize, dice: &mut Dice) -> Ended {
    search_through(world, true, 1, Some(skipped), dice)
}

fn search_through(world: &World, steady: bool, runs: u32, skipped: Option<usize>, dice: &mut Dice) -> Ended {
    let problem = Problem { units: world.units, keep: UnitSet::new(), steady, runs };
    let mut rounds = Vec::new();
    loop {
        match next(&problem, &rounds) {
            Next::Done(outcome) => return Ended { outcome, rounds: rounds.len() },
            Next::Run { on, why, .. } => {
                assert!(rounds.len() < 1500, "no end in {world:?}");
                let skip = skipped == Some(rounds.len());
                let seen = if skip { Seen::Skip } else { world.run(&on, dice) };
                rounds.push(Round { on, why, seen });
            }
        }
    }
}
