//! Short decimal numbers, as nearly all numbers of a log are, read sixteen digits at once.

/// Powers of ten that a float holds exactly.
const TENS: [f64; 16] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
const ZEROS: u128 = u128::from_le_bytes([b'0'; 16]);
const HIGH: u128 = u128::from_le_bytes([0x80; 16]);

/// Reads digits with at most one point among them: up to fifteen digits and their power of ten are exact, so that their
/// quotient is the number that the standard library would read. None for anything else.
pub(crate) fn short_decimal(text: &[u8]) -> Option<f64> {
    let ([b'0'..=b'9', ..], [.., b'0'..=b'9'], length @ ..=16) = (text, text, text.len()) else { return None };
    let bytes = gather(text)? ^ ZEROS;
    let point = place_of(bytes, b'.' ^ b'0').filter(|at| *at < length);
    // What stands behind the point moves up.
    let (digits, bytes) = match point {
        Some(at) => {
            let before = (1_u128 << (8 * at)) - 1;
            (length - 1, (bytes & before) | ((bytes >> 8) & !before))
        }
        None => (length, bytes),
    };
    if digits > 15 {
        return None;
    }
    // The last digit becomes the last byte; before the first one come zeros.
    let bytes = bytes << (8 * (16 - digits));
    let beyond_nine = (bytes & !HIGH) + u128::from_le_bytes([0x76; 16]);
    if (bytes | beyond_nine) & HIGH != 0 {
        return None;
    }
    let value = eight_digits(bytes as u64) * 100_000_000 + eight_digits((bytes >> 64) as u64);
    match point {
        Some(at) => Some(value as f64 / TENS.get(length - at - 1)?),
        None => Some(value as f64),
    }
}

/// Up to sixteen bytes of `text`, the first one lowest. Pieces overlap, which changes nothing.
fn gather(text: &[u8]) -> Option<u128> {
    let at = |from: usize, piece: u128| piece << (8 * from);
    let length = text.len();
    if let (Some(first), Some(last)) = (text.first_chunk::<8>(), text.last_chunk::<8>()) {
        return Some(u128::from(u64::from_le_bytes(*first)) | at(length - 8, u64::from_le_bytes(*last).into()));
    }
    if let (Some(first), Some(last)) = (text.first_chunk::<4>(), text.last_chunk::<4>()) {
        return Some(u128::from(u32::from_le_bytes(*first)) | at(length - 4, u32::from_le_bytes(*last).into()));
    }
    let (first, middle, last) = (*text.first()?, *text.get(length / 2)?, *text.last()?);
    Some(u128::from(first) | at(length / 2, middle.into()) | at(length - 1, last.into()))
}

/// Where `byte` stands first.
fn place_of(bytes: u128, byte: u8) -> Option<usize> {
    let differs = bytes ^ u128::from_le_bytes([byte; 16]);
    let same = !(((differs & !HIGH) + !HIGH) | differs | !HIGH);
    (same != 0).then(|| same.trailing_zeros() as usize / 8)
}

/// The number that eight digits make, the first one lowest in `bytes`.
fn eight_digits(bytes: u64) -> u64 {
    let pairs = (bytes.wrapping_mul(2561) >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(6_553_601) >> 16) & 0x0000_ffff_0000_ffff;
    fours.wrapping_mul(42_949_672_960_001) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_what_the_standard_library_reads() {
        let digits = "98765432101234567";
        for length in 1..=17 {
            let whole: String = digits.chars().take(length).collect();
            let expected = (length <= 15).then(|| whole.parse().unwrap());
            assert_eq!(short_decimal(whole.as_bytes()), expected, "{whole}");
            for point in 1..length {
                let mut text = whole.clone();
                text.insert(point, '.');
                let expected = (length <= 15).then(|| text.parse().unwrap());
                assert_eq!(short_decimal(text.as_bytes()), expected, "{text}");
            }
        }
        for (text, expected) in [("0", 0.0), ("007", 7.0), ("0.30", 0.3), ("24564", 24564.0), ("3045.6950", 3045.695)] {
            assert_eq!(short_decimal(text.as_bytes()), Some(expected));
        }
    }

    #[test]
    fn anything_else_is_left_to_the_standard_library() {
        for text in ["", ".", "1.", ".5", "1.2.3", "1,5", "x", "-1", "1e3", "1 2", "12\u{660}3", "9.5367431640625e+25"]
        {
            assert_eq!(short_decimal(text.as_bytes()), None, "{text}");
        }
        for at in 1..9 {
            for byte in 0..=255_u8 {
                let mut text = *b"1234567890";
                text[at] = byte;
                let expected = (byte.is_ascii_digit() || byte == b'.')
                    .then(|| std::str::from_utf8(&text).unwrap().parse::<f64>().unwrap());
                assert_eq!(short_decimal(&text), expected, "{byte} at {at}");
            }
        }
    }
}
