//! Messages that a handler printed in a column are put together from their rows.
//!
//! A row that ends where the next word had no room goes on in the row below; any other row ends as the message's line
//! did. Only one line of a message is kept, and no result depends on when its rows come.

use super::line::{Level, Place};
use super::part::Spot;
use super::prefix::{self, Cell, Stripped};

/// A message above this is not put together any further.
const LONGEST: usize = 64 * 1024;
/// Lines between two rows of a message: an empty line of it may stand there.
const APART: u64 = 2;

/// One line of a message, as far as its rows are known.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    /// A line waits for its next row.
    waits: bool,
    /// Where messages stand, of the last row that showed it.
    cell: Option<Cell>,
    text: Vec<u8>,
    stamp: Option<Vec<u8>>,
    indent: u32,
    level: Option<Level>,
    tagged: bool,
    spot: Spot,
    last: Row,
}

/// How the last row ended.
#[derive(Debug, Default)]
struct Row {
    line: u64,
    cells: usize,
    /// It is one piece of a word that had no room in any row.
    is_one_word: bool,
}

impl Row {
    fn of(text: &[u8], blanks: u32, line: u64) -> Self {
        let blanks = usize::try_from(blanks).unwrap_or(usize::MAX);
        let is_one_word = blanks == 0 && !text.contains(&b' ');
        Self { line, cells: blanks.saturating_add(prefix::cells(text)), is_one_word }
    }
}

impl Rows {
    /// Some text of this log stood in a row.
    #[inline]
    pub(crate) fn were_seen(&self) -> bool {
        self.cell.is_some()
    }

    /// A line waits for its next row.
    #[inline]
    pub(crate) fn wait(&self) -> bool {
        self.waits
    }

    /// A line that may be another row: what stands in its column belongs to the message as it is.
    pub(crate) fn strip<'a>(&self, line: &'a [u8]) -> Stripped<'a> {
        let blanks = prefix::leading(line);
        let indent = u32::try_from(blanks).unwrap_or(u32::MAX);
        if self.cell.is_some_and(|cell| indent >= cell.column) {
            Stripped { text: line.get(blanks..).unwrap_or_default(), indent, ..Stripped::default() }
        } else {
            prefix::strip(line)
        }
    }

    /// A text whose level stands where the rows above had theirs.
    pub(crate) fn below<'a>(&self, out: &Stripped<'a>) -> Option<Stripped<'a>> {
        let Cell { column, width: None, .. } = self.cell? else { return None };
        prefix::below(out, column)
    }

    /// Keeps the first row of a message; false when the text is none.
    pub(crate) fn begin(&mut self, out: &Stripped<'_>, spot: Spot) -> bool {
        let Some(cell) = out.cell else { return false };
        self.cell = Some(cell);
        self.begin_line(out, spot);
        self.last.cells = usize::try_from(cell.used).unwrap_or(usize::MAX);
        true
    }

    /// Keeps the first row of another line of a message.
    pub(crate) fn begin_line(&mut self, out: &Stripped<'_>, spot: Spot) {
        self.waits = true;
        self.text.clear();
        self.text.extend_from_slice(out.text);
        self.stamp = out.stamp.map(<[u8]>::to_vec);
        (self.indent, self.level, self.tagged) = (out.indent, out.level, out.tagged);
        self.spot = spot;
        self.last = Row::of(out.text, out.indent, spot.place.line);
    }

    /// Takes a row of the message that goes on with its line; false when it begins another line.
    pub(crate) fn goes_on(&mut self, out: &Stripped<'_>, blanks: u32, spot: Spot) -> bool {
        let room = self.cell.and_then(|cell| cell.width).and_then(|width| usize::try_from(width).ok());
        let Some(room) = room.filter(|_| blanks == 0 && spot.place.line <= self.last.line + 1 && self.last.cells > 0)
        else {
            return false;
        };
        let word = out.text.split(|byte| *byte == b' ').next().unwrap_or_default();
        let first = word.utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next());
        let halved = self.last.is_one_word
            && first.is_some_and(|c| {
                let mut bytes = [0; 4];
                self.last.cells + prefix::cells(c.encode_utf8(&mut bytes).as_bytes()) > room
            });
        // A box fills its rows, and each of them is one.
        let is_drawn = matches!(out.text, [0xe2, 0x94 | 0x95, ..]);
        if is_drawn
            || self.text.len() + out.text.len() > LONGEST
            || !(halved || self.last.cells + 1 + prefix::cells(word) > room)
        {
            return false;
        }
        if !halved {
            self.text.push(b' ');
        }
        self.text.extend_from_slice(out.text);
        self.last = Row::of(out.text, 0, spot.place.line);
        self.spot.cut = spot.cut;
        true
    }

    /// Blanks that a row of the same message has before its text, within the column.
    pub(crate) fn blanks_within(&self, out: &Stripped<'_>, place: Place) -> Option<u32> {
        let cell = self.cell.filter(|_| self.waits && !out.tagged && !out.prompted)?;
        let near = place.line >= self.last.line && place.line <= self.last.line + APART;
        out.indent.checked_sub(cell.column).filter(|_| near)
    }

    /// The line that waited.
    pub(crate) fn message(&self) -> (Stripped<'_>, Spot) {
        let out = Stripped {
            text: &self.text,
            indent: self.indent,
            stamp: self.stamp.as_deref(),
            level: self.level,
            tagged: self.tagged,
            prompted: false,
            cell: None,
        };
        (out, self.spot)
    }

    /// Nothing waits any more.
    pub(crate) fn end(&mut self) {
        self.waits = false;
    }
}

#[cfg(test)]
mod tests {
    use crate::input::{Bar, Level, Place, Reader, Segment, Sink};

    /// Texts with their line, indentation and level.
    #[derive(Default)]
    struct Told(Vec<(u64, u32, Option<Level>, String)>);

    impl Sink for Told {
        fn segment(&mut self, segment: &Segment<'_>) {
            let text = String::from_utf8_lossy(segment.text).into_owned();
            self.0.push((segment.place.line, segment.indent, segment.level, text));
        }

        fn bar(&mut self, place: Place, bar: Bar) {
            self.0.push((place.line, 0, None, format!("{} of {}", bar.done, bar.total)));
        }
    }

    /// What the rows say; however the bytes arrive.
    fn told(rows: &str) -> Vec<(u64, u32, Option<Level>, String)> {
        let of = |size: usize| {
            let (mut reader, mut told) = (Reader::new(), Told::default());
            for block in rows.as_bytes().chunks(size) {
                reader.feed(block, &mut told);
            }
            reader.finish(&mut told);
            told.0
        };
        let whole = of(usize::MAX);
        assert_eq!(of(1), whole);
        assert_eq!(of(7), whole);
        whole
    }

    fn texts(rows: &str) -> Vec<String> {
        told(rows).into_iter().map(|(_, _, _, text)| text).collect()
    }

    #[test]
    fn a_wrapped_message_is_one_text() {
        let rows = "\
[12:00:00] WARNING  WARNING, memory leak with   model_management.py:703
                    model ZorblaxNet. Please                           
                    make sure it is not being                          
                    referenced from somewhere.                         
           INFO     got prompt                            server.py:610
";
        let leak = "WARNING, memory leak with model ZorblaxNet. Please make sure it is not being referenced from \
                    somewhere.";
        assert_eq!(
            told(rows),
            [(1, 0, Some(Level::Warning), leak.to_owned()), (5, 0, Some(Level::Info), "got prompt".to_owned())]
        );
        let composed: String = rows.lines().map(|row| format!("comfyui-1  | {row}\r\n")).collect();
        assert_eq!(told(&composed), told(rows));
    }

    #[test]
    fn lines_of_a_message_stay_lines() {
        let rows = "\
[12:00:00] ERROR    !!! Exception during           execution.py:7
                    processing !!!
                    Traceback:
                      File \"/opt/abcdefg/b.py\",
                    line 3, in f
                    OSError: x
Starting server
                    not a row
";
        let plain = [
            (1, 0, Some(Level::Error), "!!! Exception during processing !!!"),
            (3, 0, None, "Traceback:"),
            (4, 2, None, "File \"/opt/abcdefg/b.py\", line 3, in f"),
            (6, 0, None, "OSError: x"),
            (7, 0, None, "Starting server"),
            (8, 20, None, "not a row"),
        ];
        assert_eq!(told(rows), plain.map(|(line, indent, level, text)| (line, indent, level, text.to_owned())));
    }

    #[test]
    fn a_word_without_room_in_any_row_is_mended() {
        let rows = "\
[12:00:00] INFO        0.1 seconds:      nodes.py:7
                    D:\\绘图\\custom_nodes              
                    \\ComfyUI-Zorblax                  
";
        let told = told(rows);
        assert_eq!(told.len(), 1, "{told:?}");
        assert_eq!(
            told[0],
            (1, 3, Some(Level::Info), "0.1 seconds: D:\\绘图\\custom_nodes\\ComfyUI-Zorblax".to_owned())
        );
    }

    #[test]
    fn what_looks_like_a_prefix_within_a_message_is_none() {
        let rows = "\
[12:00:00] ERROR    Traceback:          nodes.py:7
                      File
                    \"C:\\AI\\ComfyUI\\main
                    \\b.py\", line 3
";
        assert_eq!(texts(rows), ["Traceback:", "File \"C:\\AI\\ComfyUI\\main\\b.py\", line 3"]);
    }

    #[test]
    fn a_message_that_begins_with_a_line_break_gives_its_level_on() {
        let rows = "\
[12:00:00] INFO                         server.py:7
                    Import times:                  
                       0.1 seconds: /x             
";
        assert_eq!(
            told(rows),
            [(2, 0, Some(Level::Info), "Import times:".to_owned()), (3, 3, None, "0.1 seconds: /x".to_owned())]
        );
    }

    #[test]
    fn without_places_rows_are_texts() {
        let rows = "[12:00:00] INFO     got prompt\n           INFO     Requested to load SDXL\n INFO     x\n";
        assert_eq!(texts(rows), ["got prompt", "Requested to load SDXL", "x"]);
    }

    #[test]
    fn bars_come_after_what_stands_before_them() {
        let rows = "[12:00:00] INFO     got prompt   server.py:7\n100%|████| 4/4 [00:01<00:00,  2.50it/s]\n";
        assert_eq!(texts(rows), ["got prompt", "4 of 4"]);
    }

    #[test]
    fn a_writer_that_pauses_has_said_all() {
        let (mut reader, mut told) = (Reader::new(), Told::default());
        reader.feed(b"[12:00:00] INFO     got prompt   server.py:7\n", &mut told);
        assert!(told.0.is_empty());
        reader.settle(&mut told);
        assert_eq!(told.0.len(), 1);
    }
}
