//! Does a number of bytes factor into the sizes of pictures that the log tells: frames × height × width × channels × bytes?

use super::context::Context;
use super::finding::{Basis, Figure};
use super::finding_builder::told;
use crate::catalog::messages::Messages;
use crate::event::{Array, Dimensions};
use crate::text;

/// Bytes that one number of an array may take: 8, 16, 32 and 64 bit.
const ITEM_BYTES: [u64; 4] = [1, 2, 4, 8];
/// Channels of a picture, where the line does not tell them: gray, RGB, RGBA.
const CHANNELS: [u64; 3] = [3, 4, 1];
/// Sides from which on two neighbours in a shape are those of a picture.
const LEAST_SIDE: u64 = 16;

/// A request explained: so many pictures of this size, so many bytes a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Factors {
    pub frames: u64,
    pub width: u64,
    pub height: u64,
    pub channels: u64,
    pub item_bytes: u64,
    /// The line that told the sizes; none where the message itself did.
    pub line: Option<u64>,
}

/// Explains `bytes` by the lines of the same prompt, the latest first.
pub fn of_request(bytes: f64, prompt: u64, view: &Context<'_>) -> Option<Factors> {
    let pictures = view.session.pictures.iter().rev().filter(|pictures| pictures.prompt == prompt);
    pictures.filter_map(|pictures| of_dimensions(bytes, pictures.sizes, pictures.line)).next()
}

fn of_dimensions(bytes: f64, sizes: Dimensions, line: u64) -> Option<Factors> {
    let (frames, width, height) = (sizes.frames?, sizes.width?, sizes.height?);
    let given = sizes.channels.map(|channels| vec![channels]);
    let channels = given.unwrap_or_else(|| CHANNELS.to_vec());
    channels.into_iter().find_map(|channels| {
        let pixels = frames.checked_mul(width)?.checked_mul(height)?.checked_mul(channels)?;
        let item_bytes = ITEM_BYTES.into_iter().find(|item| (pixels as f64 * *item as f64 - bytes).abs() < 1.0)?;
        Some(Factors { frames, width, height, channels, item_bytes, line: Some(line) })
    })
}

/// An array whose shape is that of many pictures: `(frames, height, width, channels)`.
pub fn of_array(array: &Array) -> Option<Factors> {
    let (frames, height, width, channels) = match *array.shape.as_slice() {
        [frames, height, width, channels] => (frames, height, width, channels),
        [height, width, channels] => (1, height, width, channels),
        _ => return None,
    };
    let is_picture = width >= LEAST_SIDE && height >= LEAST_SIDE && channels <= 4 && frames >= 1;
    is_picture.then(|| Factors { frames, width, height, channels, item_bytes: array.bytes.unwrap_or(0), line: None })
}

/// The last line of the prompt that told of pictures, where the request is not made of them alone.
pub fn pictures_before(prompt: u64, line: u64, view: &Context<'_>, messages: &Messages<'_>) -> Option<Figure> {
    let mut before = view.session.pictures.iter().rev().filter(|pictures| pictures.prompt == prompt);
    let pictures = before.find(|pictures| pictures.line < line)?;
    let numbers = [pictures.sizes.frames?, pictures.sizes.width?, pictures.sizes.height?].map(|n| n.to_string());
    let [frames, width, height] = &numbers;
    let values = [("frames", frames.as_str()), ("width", width), ("height", height)];
    let key = if pictures.sizes.frames == Some(1) { "figure-picture-one" } else { "figure-pictures" };
    Some(told("pictures", messages.text(key, &values), Basis::Measured, vec![pictures.line]))
}

impl Factors {
    /// `23.12 GiB = 4046 frames × 1360 × 752 pixels × 3 channels × 2 bytes`
    pub fn figure(&self, bytes: Option<f64>, at: u64, messages: &Messages<'_>) -> Figure {
        let size = bytes.map_or_else(|| "?".to_owned(), text::bytes);
        let numbers = [self.frames, self.width, self.height, self.channels, self.item_bytes].map(|n| n.to_string());
        let [frames, width, height, channels, item] = &numbers;
        let values = [
            ("size", size.as_str()),
            ("frames", frames),
            ("width", width),
            ("height", height),
            ("channels", channels),
            ("bytes", item),
        ];
        let key = match (self.frames, self.item_bytes) {
            (1, _) => "figure-factors-one",
            (_, 0) => "figure-factors-no-type",
            _ => "figure-factors",
        };
        let mut lines = vec![at];
        lines.extend(self.line);
        lines.sort_unstable();
        told("factors", messages.text(key, &values), Basis::Derived, lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_of_a_whole_video_factor_into_its_frames() {
        let sizes = Dimensions { frames: Some(4046), width: Some(1360), height: Some(752), channels: Some(3) };
        let found = of_dimensions(24_827_550_720.0, sizes, 12).expect("two bytes each");
        assert_eq!((found.item_bytes, found.line), (2, Some(12)));
        assert_eq!(of_dimensions(24_827_550_721.0 + 8.0, sizes, 12), None);
        let untold = Dimensions { channels: None, ..sizes };
        assert_eq!(of_dimensions(24_827_550_720.0, untold, 12).map(|found| found.channels), Some(3));
    }

    #[test]
    fn only_a_shape_of_pictures_is_read_as_frames() {
        let array = |shape: &[u64]| Array { shape: shape.to_vec(), bytes: Some(4) };
        assert_eq!(of_array(&array(&[2433, 720, 512, 3])).map(|found| found.frames), Some(2433));
        assert_eq!(of_array(&array(&[30060, 97])), None);
        assert_eq!(of_array(&array(&[2, 16, 4096, 4096])), None);
        assert_eq!(of_array(&array(&[60_800, 41_600, 3])).map(|found| (found.frames, found.width)), Some((1, 41_600)));
    }
}
