//! Whether a text is plain: ASCII without control bytes and without the beginnings of shown escapes and percentages.

/// Bytes that are compared side by side, which the compiler does at once.
const WIDTH: usize = 16;

/// The text holds a byte that needs a closer look: not ASCII, control but for a tab or a line end, `^` or `%`.
#[inline]
pub(super) fn has_odd(text: &[u8]) -> bool {
    match text.last_chunk::<WIDTH>() {
        // The last bytes overlap those before: none are left to be looked at one by one.
        Some(last) => {
            let mut odd = [0; WIDTH];
            for chunk in text.as_chunks::<WIDTH>().0.iter().chain([last]) {
                for (odd, byte) in odd.iter_mut().zip(chunk) {
                    *odd |= is_odd(*byte);
                }
            }
            u128::from_ne_bytes(odd) != 0
        }
        None => text.iter().any(|byte| is_odd(*byte) != 0),
    }
}

#[inline(always)]
const fn is_odd(byte: u8) -> u8 {
    let control = (byte as i8) < 0x20;
    let usual = (byte == b'\n') | (byte == b'\r') | (byte == b'\t');
    ((control & !usual) | (byte == b'^') | (byte == b'%')) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_odd_byte_is_found_wherever_it_stands() {
        for byte in 0..=255_u8 {
            let plain = (0x20..0x80).contains(&byte) && byte != b'^' && byte != b'%';
            let odd = !plain && !matches!(byte, b'\n' | b'\r' | b'\t');
            for length in [1, 15, 16, 17, 40] {
                for at in 0..length {
                    let mut text = vec![b'a'; length];
                    text[at] = byte;
                    assert_eq!(has_odd(&text), odd, "{byte} at {at} of {length}");
                }
            }
        }
    }
}
