//! A cheap question before dear ones: may a text that no rule knows hold a command line, or texts far apart?

/// The file that starts ComfyUI.
pub(super) const MAIN: &[u8] = b"main.py";
/// Blanks that separate two texts written by a cursor that had wandered off.
pub(super) const GAP: &[u8] = b"        ";

/// Each of both fills one of these, wherever a text is cut into pieces of four bytes.
const PIECES: [u32; 5] = [
    u32::from_le_bytes(*b"main"),
    u32::from_le_bytes(*b"ain."),
    u32::from_le_bytes(*b"in.p"),
    u32::from_le_bytes(*b"n.py"),
    u32::from_le_bytes(*b"    "),
];

/// When false, neither [`MAIN`] nor [`GAP`] stands in `text`.
pub(super) fn launch_or_gap(text: &[u8]) -> bool {
    let any = |piece: u32| PIECES.iter().fold(0, |any, looked_for| any | u32::from(piece == *looked_for));
    // Pieces are compared side by side, which the compiler does at once.
    let (chunks, rest) = text.as_chunks::<16>();
    let mut found = [0; 4];
    for chunk in chunks {
        for (found, piece) in found.iter_mut().zip(chunk.as_chunks::<4>().0) {
            *found |= any(u32::from_le_bytes(*piece));
        }
    }
    let rest = rest.as_chunks::<4>().0.iter().map(|piece| any(u32::from_le_bytes(*piece)));
    found.into_iter().chain(rest).any(|found| found != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{Packs, SignOf};

    #[test]
    fn the_main_program_has_the_name_that_the_packs_give() {
        let packs = Packs::built_in();
        let names: Vec<&[u8]> =
            packs.signs_of(SignOf::MainFile).flat_map(|sign| &sign.equals).map(|name| name.as_bytes()).collect();
        assert_eq!(names, [MAIN]);
    }

    #[test]
    fn launches_and_gaps_are_never_overlooked() {
        for before in 0..70 {
            for after in 0..70 {
                for inside in [MAIN, GAP] {
                    let text = [&b"x".repeat(before), inside, &b"y".repeat(after)].concat();
                    assert!(launch_or_gap(&text), "{before} {after}");
                }
                let text = b"x".repeat(before + after);
                assert!(!launch_or_gap(&text));
            }
        }
        assert!(!launch_or_gap(b"Requested size 12 does not fit the latent"));
    }
}
