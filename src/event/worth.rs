//! Whether asking something beforehand pays: what answers no log is asked of only now and then.

/// After so many questions it is decided.
const TRIAL: u32 = 512;
/// If it did not, so many texts are not asked about.
const PAUSE: u32 = 8192;

/// Counts how often a question was worth asking.
pub(super) struct Worth {
    /// So many of the questions of a trial must be worth it.
    least: u32,
    asked: u32,
    worth: u32,
    pause: u32,
}

impl Worth {
    /// It must be worth it in one of `least` cases.
    pub(super) fn one_in(least: u32) -> Self {
        Self { least: TRIAL / least, asked: 0, worth: 0, pause: 0 }
    }

    /// The question shall be put to the next text.
    #[inline]
    pub(super) fn asks(&mut self) -> bool {
        if self.pause > 0 {
            self.pause -= 1;
            return false;
        }
        self.asked += 1;
        if self.asked == TRIAL {
            self.decide();
        }
        true
    }

    #[inline(never)]
    fn decide(&mut self) {
        if self.worth < self.least {
            self.pause = PAUSE;
        }
        (self.asked, self.worth) = (0, 0);
    }

    /// It was worth it.
    #[inline]
    pub(super) fn was_worth_it(&mut self) {
        self.worth += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_pay_is_asked_seldom_and_tried_again() {
        let mut worth = Worth::one_in(8);
        let asked = |worth: &mut Worth, texts: u32, pays: u32| {
            (0..texts)
                .filter(|text| {
                    worth.asks() && {
                        if text % 16 < pays {
                            worth.was_worth_it()
                        }
                        true
                    }
                })
                .count() as u32
        };
        assert_eq!(asked(&mut worth, 20 * TRIAL, 2), 20 * TRIAL, "one in eight pays");
        let all = 10 * (TRIAL + PAUSE);
        assert_eq!(asked(&mut worth, all, 1), 10 * TRIAL);
        assert_eq!(asked(&mut worth, TRIAL, 16), TRIAL, "tried again, and worth it now");
        assert_eq!(asked(&mut worth, 4 * TRIAL, 16), 4 * TRIAL);
    }
}
