//! The time that a line's stamp tells, in seconds.
//!
//! Zones are not looked at: only differences between lines of one log matter.

/// Seconds of a day.
pub(crate) const DAY: f64 = 86_400.0;
/// A clock that goes back by more than this has passed midnight.
const PAST_MIDNIGHT: f64 = DAY / 2.0;

/// Seconds since 1970 of a stamp with a date, since midnight of one without. None, where it is no time.
pub(crate) fn seconds(stamp: &[u8]) -> Option<f64> {
    let colon = stamp.windows(6).position(|bytes| bytes[2] == b':' && bytes[0].is_ascii_digit())?;
    let time = stamp.get(colon..)?;
    let [hours, minutes] = [two(time, 0)?, two(time, 3)?];
    let mut of_day = hours * 3600.0 + minutes * 60.0;
    if time.get(5) == Some(&b':')
        && let Some(whole) = two(time, 6)
    {
        of_day += whole + fraction(time.get(8..).unwrap_or_default());
    }
    if hours > 24.0 || minutes > 59.0 {
        return None;
    }
    let date = colon.checked_sub(11).and_then(|from| days(stamp.get(from..colon)?));
    Some(date.unwrap_or(0.0) * DAY + of_day)
}

/// Days since 1970 of `2026-08-05 ` or of its form with a `T`.
fn days(text: &[u8]) -> Option<f64> {
    let number = |from: usize, to: usize| std::str::from_utf8(text.get(from..to)?).ok()?.parse::<i32>().ok();
    let month = u32::try_from(number(5, 7)?).ok()?;
    let day = u32::try_from(number(8, 10)?).ok()?;
    let date = chrono::NaiveDate::from_ymd_opt(number(0, 4)?, month, day)?;
    Some(date.signed_duration_since(chrono::NaiveDate::default()).num_days() as f64)
}

fn two(text: &[u8], at: usize) -> Option<f64> {
    match text.get(at..at + 2)? {
        [a, b] if a.is_ascii_digit() && b.is_ascii_digit() => Some(f64::from((a - b'0') * 10 + (b - b'0'))),
        _ => None,
    }
}

/// `.123` or `,123` behind the seconds.
fn fraction(text: &[u8]) -> f64 {
    if !matches!(text.first(), Some(b'.' | b',')) {
        return 0.0;
    }
    let digits = text.iter().skip(1).take(6).take_while(|byte| byte.is_ascii_digit());
    digits.fold((0.0, 0.1), |(sum, unit), digit| (sum + f64::from(digit - b'0') * unit, unit / 10.0)).0
}

/// Turns the stamps of one log into times that go on past midnight.
#[derive(Debug, Clone, Default)]
pub(crate) struct Clock {
    last: Option<f64>,
    days: f64,
}

impl Clock {
    /// The time of this stamp.
    pub(crate) fn tell(&mut self, stamp: Option<&[u8]>) -> Option<f64> {
        let told = seconds(stamp?)?;
        if told < DAY && self.last.is_some_and(|last| last - told > PAST_MIDNIGHT) {
            self.days += DAY;
        }
        self.last = Some(told);
        Some(told + if told < DAY { self.days } else { 0.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_of_all_kinds_are_told() {
        assert_eq!(seconds(b"1970-01-02 00:00:01,500"), Some(86_401.5));
        assert_eq!(seconds(b"1970-01-02T00:00:01.250000 - "), Some(86_401.25));
        assert_eq!(seconds(b"[12:00:01.5]"), Some(43_201.5));
        assert_eq!(seconds(b"Nov 27 00:45"), None, "too short to tell minutes from a port");
        assert_eq!(seconds(b"Nov 27 00:45:36 host"), Some(2736.0));
        assert_eq!(seconds(b"[ 1234.567]"), None);
    }

    #[test]
    fn a_clock_without_date_goes_on_past_midnight() {
        let mut clock = Clock::default();
        assert_eq!(clock.tell(Some(b"23:59:58")), Some(86_398.0));
        assert_eq!(clock.tell(Some(b"00:00:02")), Some(86_402.0));
        assert_eq!(clock.tell(None), None);
    }
}
