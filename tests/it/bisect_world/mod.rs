//! Made-up installs with a known truth, and the search run in them to its end.

use comfy_triage::bisect::{Group, Next, Outcome, Problem, Round, Seen, Steadiness, UnitSet, Why, next};

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
    /// What a broken unit does wrong shows although it is broken.
    pub broken_shows: bool,
    /// Share of the rounds that do not count, through errors of the user.
    pub void: f64,
}

impl World {
    pub fn new(units: usize, faults: Vec<UnitSet>, rate: f64) -> Self {
        Self {
            units,
            faults,
            rate,
            workflow: UnitSet::new(),
            needs: Vec::new(),
            tells: true,
            broken_shows: false,
            void: 0.0,
        }
    }

    /// Units that are on and do not work, since what they need is off or broken.
    fn broken(&self, on: &UnitSet) -> UnitSet {
        let mut broken = UnitSet::new();
        loop {
            let before = broken.len();
            let fails = |(a, b): &&(usize, usize)| on.contains(*a) && (!on.contains(*b) || broken.contains(*b));
            let more: Vec<usize> = self.needs.iter().filter(fails).map(|(a, _)| *a).collect();
            broken.extend(more);
            if broken.len() == before {
                return broken;
            }
        }
    }

    /// What a round shows, and which units were broken in it. The symptom counts although something was broken.
    pub fn run(&self, on: &UnitSet, dice: &mut Dice) -> (Seen, UnitSet) {
        if dice.chance(self.void) {
            return (Seen::Void, UnitSet::new());
        }
        let broken = self.broken(on);
        let working = on.without(&broken);
        let missing = self.workflow.without(&working);
        let acting = if self.broken_shows { on } else { &working };
        let faulty = self.faults.iter().any(|fault| fault.within(acting));
        if missing.is_empty() && faulty && dice.chance(self.rate) {
            return (Seen::Bad, broken);
        }
        if broken.is_empty() && missing.is_empty() {
            return (Seen::Good, broken);
        }
        let keep = if broken.is_empty() && self.tells { missing } else { UnitSet::new() };
        (Seen::CannotRun { keep }, broken)
    }
}

/// How a search ended.
#[derive(Debug)]
pub struct Ended {
    pub outcome: Outcome,
    pub rounds: usize,
}

impl Ended {
    /// It was named as one that cannot be told from others, and a guilty one is among them.
    pub fn inseparable(&self, named: &UnitSet, guilty: &UnitSet) -> bool {
        let groups: &[Group] = match &self.outcome {
            Outcome::Culprits { groups, .. } | Outcome::CannotTell { groups, .. } => groups,
            Outcome::NotTheUnits { .. } => &[],
        };
        let found = groups.iter().find(|group| group.units == *named);
        found.is_some_and(|group| group.inseparable) && !named.common(guilty).is_empty()
    }

    /// Groups that were named, in rising order.
    pub fn named(&self) -> Vec<UnitSet> {
        let groups: &[Group] = match &self.outcome {
            Outcome::Culprits { groups, .. } | Outcome::CannotTell { groups, .. } => groups,
            Outcome::NotTheUnits { .. } => &[],
        };
        let mut named: Vec<UnitSet> = groups.iter().map(|group| group.units.clone()).collect();
        named.sort();
        named
    }
}

/// Runs the search to its end.
pub fn search(world: &World, steadiness: Steadiness, dice: &mut Dice) -> Ended {
    search_through(world, steadiness, None, dice)
}

/// The same with a user who cannot test round `skipped`.
pub fn search_with_a_skip(world: &World, skipped: usize, dice: &mut Dice) -> Ended {
    search_through(world, Steadiness::Steady, Some(skipped), dice)
}

fn search_through(world: &World, steadiness: Steadiness, skipped: Option<usize>, dice: &mut Dice) -> Ended {
    let mut problem = Problem { units: world.units, keep: UnitSet::new(), steadiness, runs: 1 };
    let mut rounds: Vec<Round> = Vec::new();
    loop {
        match next(&problem, &rounds) {
            Next::Done(outcome) => return Ended { outcome, rounds: rounds.len() },
            Next::Run { on, why, .. } => {
                assert!(rounds.len() < 600, "no end in {world:?}");
                // A round that could not run is never asked for again as it was.
                let again =
                    rounds.last().is_some_and(|last| last.on == on && matches!(last.seen, Seen::CannotRun { .. }));
                assert!(!again, "asked for again: {on:?} in {world:?}");
                let skip = skipped == Some(rounds.len());
                let (seen, broken) = if skip { (Seen::Skip, UnitSet::new()) } else { world.run(&on, dice) };
                if why == Why::Steadiness && seen == Seen::Bad {
                    problem.steadiness = Steadiness::Steady;
                }
                rounds.push(Round { on, why, seen, broken });
            }
        }
    }
}
