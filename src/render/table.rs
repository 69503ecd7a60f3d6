//! Tables on a terminal: as wide as they need, at most as wide as it is. No word is broken for it.

use super::layout::{blanks, clean, pad, wrap};
use crate::text::{cut_width, width};

/// Blanks before a row, and between columns.
const GAP: usize = 2;

/// The lines of the head, and those of the rows.
pub(super) fn rows(head: &[String], rows: &[Vec<String>], columns: usize) -> (Vec<String>, Vec<String>) {
    let clean_row = |cells: &[String]| cells.iter().map(|cell| clean(cell)).collect::<Vec<_>>();
    let all: Vec<Vec<String>> = std::iter::once(head).chain(rows.iter().map(Vec::as_slice)).map(clean_row).collect();
    let count = all.iter().map(Vec::len).max().unwrap_or(0);
    let cells = |column: usize| all.iter().filter_map(move |row| row.get(column));
    let wanted: Vec<usize> =
        (0..count).map(|column| cells(column).map(|cell| width(cell)).max().unwrap_or(0)).collect();
    // The last column may hold a text of the log, which can be one endless word.
    let most = |column: usize| if column + 1 == count { columns / 3 } else { usize::MAX };
    let longest = |column: usize| cells(column).map(|cell| longest_word(cell)).max().unwrap_or(0);
    let least: Vec<usize> = (0..count).map(|column| longest(column).min(most(column))).collect();
    let widths = fitted(wanted, &least, columns.saturating_sub(GAP * count));
    let lines = |cells: &Vec<String>| match &widths {
        Some(widths) => lines(cells, widths),
        None => stacked(cells, columns),
    };
    let mut all = all.iter();
    let head = all.next().filter(|head| !head.is_empty()).map(lines).unwrap_or_default();
    (head, all.flat_map(lines).collect())
}

/// Widths that fit into `room`: the widest columns give way first, none below its longest word. `None` when they cannot.
fn fitted(mut widths: Vec<usize>, least: &[usize], room: usize) -> Option<Vec<usize>> {
    loop {
        let over = widths.iter().sum::<usize>().saturating_sub(room);
        if over == 0 {
            return Some(widths);
        }
        let (column, _) = widths
            .iter()
            .enumerate()
            .filter(|(at, width)| least.get(*at) < Some(*width))
            .max_by_key(|(_, width)| **width)?;
        let others = widths.iter().enumerate().filter(|(at, _)| *at != column).map(|(_, width)| *width);
        let width = widths.get(column).copied()?;
        // Down to the next widest, and then all of them together.
        let next = others.filter(|other| *other < width).max().unwrap_or(0).max(least.get(column).copied()?);
        let step = over.min(width - next.min(width - 1)).max(1);
        *widths.get_mut(column)? -= step;
    }
}

/// One row, as many lines as its highest cell.
fn lines(cells: &[String], widths: &[usize]) -> Vec<String> {
    let wrapped: Vec<Vec<String>> = cells.iter().zip(widths).map(|(cell, width)| wrap(cell, *width)).collect();
    let high = wrapped.iter().map(Vec::len).max().unwrap_or(0);
    (0..high)
        .map(|line| {
            let mut text = blanks(GAP);
            for (cell, width) in wrapped.iter().zip(widths) {
                let shown = cut_width(cell.get(line).map_or("", String::as_str), *width);
                text.push_str(&pad(&shown, width + GAP));
            }
            text.trim_end().to_owned()
        })
        .collect()
}

/// Too narrow for columns: the cells below each other, all but the first a little further in.
fn stacked(cells: &[String], columns: usize) -> Vec<String> {
    let at = |index: usize| if index == 0 { GAP } else { 2 * GAP };
    let filled = cells.iter().enumerate().filter(|(_, cell)| !cell.is_empty());
    filled
        .flat_map(|(index, cell)| {
            wrap(cell, columns.saturating_sub(at(index)))
                .into_iter()
                .map(move |row| format!("{}{row}", blanks(at(index))))
        })
        .collect()
}

fn longest_word(cell: &str) -> usize {
    wrap(cell, 1).iter().map(|word| width(word)).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::rows;
    use crate::text::width;

    fn table(columns: usize) -> Vec<String> {
        let row = |cells: [&str; 3]| cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>();
        let body = [
            row(["leak-confirmed", "a model that nothing should use is still held after a full collection", "35"]),
            row(["container-memory-limit-ignored", "容器的限制小于 ComfyUI 所见的内存，因此被终止", "7"]),
        ];
        let (head, body) = rows(&row(["id", "what it means", "line"]), &body, columns);
        head.into_iter().chain(body).collect()
    }

    #[test]
    fn a_table_fits_and_breaks_no_id() {
        for columns in [48, 60, 80, 100, 200] {
            let shown = table(columns);
            assert!(shown.iter().all(|row| width(row) <= columns), "{columns}: {shown:#?}");
            let ids = shown
                .iter()
                .filter(|row| row.contains("container-memory-limit-ignored") || row.contains("leak-confirmed"));
            assert_eq!(ids.count(), 2, "{columns}: {shown:#?}");
        }
        assert_eq!(table(200).len(), 3, "each row on one line where there is room");
        assert!(table(80).len() > 3 && table(80)[0].starts_with("  id "));
    }

    #[test]
    fn where_no_columns_fit_the_cells_stand_below_each_other() {
        let shown = table(34);
        assert!(shown.contains(&"  container-memory-limit-ignored".to_owned()), "{shown:#?}");
        assert!(shown.iter().all(|row| width(row) <= 34), "{shown:#?}");
    }

    #[test]
    fn a_table_without_a_head_has_its_rows_alone_and_an_endless_word_is_cut() {
        let body = [vec!["a".to_owned(), "b".to_owned()]];
        assert_eq!(rows(&[], &body, 80), (Vec::new(), vec!["  a  b".to_owned()]));
        let endless = [vec!["a b".to_owned(), "x".repeat(500)]];
        let (_, shown) = rows(&[], &endless, 60);
        assert!(shown.len() == 1 && width(&shown[0]) <= 60 && shown[0].starts_with("  a b  xxx"), "{shown:#?}");
    }
}
