//! Frames of bars: of a series that is redrawn only the last one is told.

use super::super::line::{Bar, Place, Sink};
use crate::input::{page, progress_bar};

/// How many bytes of a frame are kept until it is known to be the last of its series.
const TAIL: usize = 128;

/// A frame that may still be redrawn.
struct Held {
    place: Place,
    percent: [u8; 3],
    /// The figures; `None` when they stand unread in `Frames::tail`.
    figures: Option<Option<Bar>>,
}

/// Holds a frame until another one follows it.
pub(super) struct Frames {
    held: Option<Held>,
    /// Seconds at which the series that is held still stood at its first step.
    waited: Option<f64>,
    /// The end of a frame that is held unread, written in place: moving it about cost a tenth of the time on bars.
    tail: [u8; TAIL],
    tail_length: usize,
}

impl Frames {
    pub(super) fn new() -> Self {
        Self { held: None, waited: None, tail: [0; TAIL], tail_length: 0 }
    }

    /// A frame is held.
    #[inline]
    pub(super) fn wait(&self) -> bool {
        self.held.is_some()
    }

    /// Holds a frame whose figures are only read if it turns out to be the last one.
    #[inline]
    pub(super) fn hold_unread<S: Sink + ?Sized>(&mut self, text: &[u8], place: Place, sink: &mut S) {
        let percent = text.first_chunk().copied().unwrap_or([b' '; 3]);
        // Before the tail is written: what it held may have to go out first.
        self.hold(Held { place, percent, figures: None }, sink);
        let tail = text.last_chunk::<TAIL>().map_or(text, |tail| tail);
        self.tail_length = tail.len();
        if let Some(kept) = self.tail.get_mut(..tail.len()) {
            kept.copy_from_slice(tail);
        }
    }

    /// Holds a frame whose figures were read.
    pub(super) fn hold_read<S: Sink + ?Sized>(
        &mut self,
        percent: [u8; 3],
        figures: Option<Bar>,
        place: Place,
        sink: &mut S,
    ) {
        self.hold(Held { place, percent, figures: Some(figures) }, sink);
    }

    #[inline]
    fn hold<S: Sink + ?Sized>(&mut self, frame: Held, sink: &mut S) {
        if let Some(old) = &self.held {
            let other = match (&old.figures, &frame.figures) {
                (Some(Some(a)), Some(Some(b))) => a.total != b.total || b.done < a.done,
                _ => false,
            };
            if frame.percent < old.percent || other {
                self.release(sink);
            } else if old.percent == *b"  0" {
                let bar = match old.figures {
                    Some(bar) => bar,
                    None => figures(self.tail.get(..self.tail_length).unwrap_or_default()),
                };
                self.waited = bar.filter(|bar| bar.done == 0).and_then(|bar| bar.elapsed).or(self.waited);
            }
        }
        self.held = Some(frame);
    }

    /// Hands on the frame that turned out to be the last of its series.
    pub(super) fn release<S: Sink + ?Sized>(&mut self, sink: &mut S) {
        if let Some(held) = self.held.take() {
            let bar = match held.figures {
                Some(bar) => bar,
                None => figures(self.tail.get(..self.tail_length).unwrap_or_default()),
            };
            let waited = self.waited.take();
            if let Some(mut bar) = bar {
                bar.before_first = if bar.done == 0 { bar.elapsed } else { waited };
                sink.bar(held.place, bar);
            }
        }
    }
}

/// The figures of a held frame; a copy from a web page may have blanks of its own.
fn figures(tail: &[u8]) -> Option<Bar> {
    progress_bar::figures(tail)
        .or_else(|| page::has_fixed_blanks(tail).then(|| progress_bar::figures(&page::with_blanks(tail)))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Segment;

    #[derive(Default)]
    struct Told(Vec<(u64, u64)>);

    impl Sink for Told {
        fn segment(&mut self, _: &Segment<'_>) {}

        fn bar(&mut self, _: Place, bar: Bar) {
            self.0.push((bar.done, bar.total));
        }
    }

    #[test]
    fn only_the_last_frame_of_a_series_is_told() {
        let (mut frames, mut told) = (Frames::new(), Told::default());
        for done in [1, 2, 4] {
            let text = format!("{:3}%|#         | {done}/4 [00:01<00:03,  1.00s/it]", done * 25);
            frames.hold_unread(text.as_bytes(), Place::default(), &mut told);
        }
        assert!(told.0.is_empty() && frames.wait());
        frames.hold_unread(b"  0%|          | 0/8 [00:00<?, ?it/s]", Place::default(), &mut told);
        assert_eq!(told.0, [(4, 4)]);
        frames.release(&mut told);
        assert_eq!(told.0, [(4, 4), (0, 8)]);
        assert!(!frames.wait());
    }

    #[test]
    fn figures_that_were_read_tell_another_series_with_the_same_percentage() {
        let (mut frames, mut told) = (Frames::new(), Told::default());
        for total in [4, 4, 8] {
            let bar = Bar { done: 0, total, ..Bar::default() };
            frames.hold_read(*b"  0", Some(bar), Place::default(), &mut told);
        }
        assert_eq!(told.0, [(0, 4)]);
    }
}
