//! The few shapes that pictures are made of. Lengths across are in percent, so that a picture fits a phone and a wide
//! screen alike and its text keeps its size; heights are in pixels.

use maud::{Markup, html};

use crate::text::number;

/// Turns values into places between the left and the right edge.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    from: f64,
    to: f64,
}

impl Scale {
    /// A scale from `from` to `to`; where both are the same, everything stands on the left.
    pub(super) fn new(from: f64, to: f64) -> Self {
        Self { from, to: if to > from { to } else { from + 1.0 } }
    }

    /// Where a value stands, in percent of the width.
    pub(super) fn percent(&self, value: f64) -> f64 {
        ((value - self.from) / (self.to - self.from) * 100.0).clamp(0.0, 100.0)
    }

    /// The same as an attribute.
    pub(super) fn at(&self, value: f64) -> String {
        format!("{}%", number(self.percent(value), 2))
    }

    /// Distance of two values as an attribute.
    pub(super) fn width(&self, from: f64, to: f64) -> String {
        format!("{}%", number((self.percent(to) - self.percent(from)).max(0.0), 2))
    }

    /// Of seconds, minutes and hours the unit in which about `count` ticks are round numbers.
    pub(super) fn round_time(&self, count: usize) -> f64 {
        let least = (self.to - self.from) / count.max(1) as f64;
        [1.0, 60.0, 3600.0].into_iter().rev().find(|unit| least >= *unit / 4.0).unwrap_or(1.0)
    }

    /// Round values along the scale, about `count` of them, and the step between two.
    pub(super) fn ticks(&self, count: usize) -> (Vec<f64>, f64) {
        self.ticks_of(count, 1.0)
    }

    /// The same, round in a unit other than that of the scale.
    pub(super) fn ticks_of(&self, count: usize, unit: f64) -> (Vec<f64>, f64) {
        let step = round_step((self.to - self.from) / unit / count.max(1) as f64) * unit;
        let first = (self.from / step).ceil();
        let last = (self.to / step + 1e-9).floor();
        let count = ((last - first).max(0.0) as usize).min(20);
        ((0..=count).map(|index| (first + index as f64) * step).collect(), step)
    }
}

/// The next of 1, 2, 5, 10, … that is at least `least`.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.max(1e-9).log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power).find(|step| *step >= least).unwrap_or(power * 10.0)
}

/// Heights: the greatest value stands at the top, zero at the bottom.
#[derive(Debug, Clone, Copy)]
pub(super) struct Height {
    pub(super) top: f64,
    pub(super) height: f64,
    pub(super) most: f64,
}

impl Height {
    pub(super) fn at(&self, value: f64) -> f64 {
        let share = (value / self.most.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
        self.top + self.height * (1.0 - share)
    }

    pub(super) fn y(&self, value: f64) -> String {
        number(self.at(value), 1)
    }

    /// Lines across at round values; `whole` leaves out those between whole numbers. They lie below everything.
    pub(super) fn lines(&self, whole: bool) -> Markup {
        html! {
            @for tick in self.ticks(whole) {
                line class="grid" x1="0" x2="100%" y1=(self.y(tick)) y2=(self.y(tick)) {}
            }
        }
    }

    /// The numbers of those lines. They lie above everything.
    pub(super) fn numbers(&self, whole: bool, shown: impl Fn(f64) -> String) -> Markup {
        html! {
            @for tick in self.ticks(whole) { text class="tick over" x="0" y=(number(self.at(tick) - 3.0, 1)) { (shown(tick)) } }
        }
    }

    fn ticks(&self, whole: bool) -> impl Iterator<Item = f64> {
        let (ticks, _) = Scale::new(0.0, self.most).ticks(4);
        ticks.into_iter().filter(move |tick| !whole || tick.fract() == 0.0)
    }
}

/// A plot of this height.
pub(super) fn plot(label: &str, height: f64, zoom: bool, inside: Markup) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(label) data-zoom[zoom] {
            svg.plot role="group" aria-label=(label) width="100%" height=(number(height, 0)) { (inside) }
        }
    }
}

/// A box. `data` are the numbers that it stands for.
pub(super) fn bar(class: &str, x: &str, width: &str, y: f64, height: f64) -> Markup {
    html! { rect class=(class) x=(x) width=(width) y=(number(y, 1)) height=(number(height, 1)) {} }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_in_percent_and_ticks_are_round() {
        let scale = Scale::new(0.0, 24.0);
        assert_eq!((scale.at(6.0), scale.width(6.0, 12.0)), ("25%".to_owned(), "25%".to_owned()));
        assert_eq!(scale.ticks(5).0, [0.0, 5.0, 10.0, 15.0, 20.0]);
        assert_eq!(Scale::new(3.0, 3.0).at(3.0), "0%");
        assert_eq!(Scale::new(0.0, 0.4).ticks(4).0.len(), 5);
    }

    #[test]
    fn heights_grow_upwards() {
        let height = Height { top: 10.0, height: 100.0, most: 4.0 };
        assert_eq!((height.at(0.0), height.at(4.0), height.at(1.0)), (110.0, 10.0, 85.0));
    }
}
