//! Out-of-memory records: one for all lines that tell of it, with the numbers of each.

use super::{LIST_LIMIT, NAME_KEPT, Open, kept, kept_sizes, push_capped};
use crate::event::{Array, At, Event, OomNumbers, What};
use crate::timeline::evidence::{Evidence, count};
use crate::timeline::failure::{Exception, HostOom, OomRecord};
use crate::timeline::signs::Signs;

/// Kind of a failure that only the type of an exception tells.
const MEMORY_ERROR: &str = "memory-error";
/// Lines from one field of an allocator's block to the next: a title stands between the last two.
const FIELD_GAP: u64 = 2;

impl Open {
    // Long: one record, field by field.
    pub(super) fn memory_failure(&mut self, event: &Event<'_>, prompt: u64) {
        let at = &event.at;
        match &event.what {
            What::Oom { kind, numbers, sizes } => {
                let reported =
                    self.session.exceptions.iter().rposition(|exception| exception.from_report && event.nested);
                if let Some(exception) =
                    self.open_exception.or(reported).and_then(|index| self.session.exceptions.get_mut(index))
                {
                    exception.is_oom = true;
                }
                self.told_by_exception(at);
                let sizes = kept_sizes(sizes);
                if self.complete_oom(kind, numbers, &sizes, at) {
                    return;
                }
                // An Error Report's first lines, or a dialog's text pasted above the log, tell what the log tells again.
                let from_report = !self.prompt_began && self.open_exception.is_none();
                self.new_oom(kind, **numbers, sizes, at, prompt, from_report);
            }
            What::OomField { numbers, sizes } => {
                let sizes = kept_sizes(sizes);
                // A lone `: 12 GiB` is no out-of-memory, nor a row of a table; the block's own first lines are.
                let row = event.rule.is_some_and(|rule| rule.sets("table"));
                let tells = !row && (numbers.requested.is_some() || numbers.allocated.is_some());
                if !self.complete_oom("", numbers, &sizes, at) && tells {
                    self.new_oom("fraction", **numbers, sizes, at, prompt, false);
                }
            }
            What::OomUnload => {
                count(&mut self.session.counts.oom_unloads, at, prompt);
                if self.open_oom.is_none() {
                    self.new_oom("unknown", OomNumbers::default(), Vec::new(), at, prompt, false);
                }
                if let Some(oom) = self.open_oom.and_then(|index| self.session.ooms.get_mut(index)) {
                    oom.unloaded_all = Some(Evidence::of(at));
                    // The console tells it, so no report tells it beforehand: the log begins within its traceback.
                    oom.from_report = false;
                }
                self.resident.clear();
                // What is loaded after this was unloaded by it: no needless reload.
                for draft in self.loads.values_mut() {
                    draft.load.last_prompt = 0;
                }
                self.prompt.told.failed = true;
            }
            What::HostOom { kind, requested, array } => {
                if let Some(exception) = self.open_exception.and_then(|index| self.session.exceptions.get_mut(index)) {
                    exception.is_oom = true;
                }
                self.told_by_exception(at);
                self.new_host_oom(kind, *requested, array.as_ref(), at, prompt);
            }
            What::TiledRetry => {
                self.prompt.told.tiled_retry = true;
                count(&mut self.session.counts.tiled_retries, at, prompt);
            }
            What::AttentionRetry => {
                self.begin_prompt(at);
                count(&mut self.session.counts.attention_retries, at, prompt);
            }
            _ => {}
        }
    }

    /// RAM that was refused. Several lines tell of one failure: the message, the traceback's last line, a report.
    pub(super) fn new_host_oom(
        &mut self,
        kind: &str,
        requested: Option<f64>,
        array: Option<&Array>,
        at: &At<'_>,
        prompt: u64,
    ) {
        let last = self.session.host_ooms.last_mut().filter(|last| last.prompt == prompt);
        // One of two without a size only says the same in other words, and a type says less than a text.
        let repeats = |last: &&mut HostOom| last.kind == kind || requested.is_none() || last.requested.is_none();
        if let Some(last) = last.filter(repeats) {
            if last.kind == MEMORY_ERROR && kind != MEMORY_ERROR {
                last.kind = kept(kind, NAME_KEPT);
                last.at = Evidence::of(at);
            }
            last.requested = last.requested.or(requested);
            last.array = last.array.take().or_else(|| array.cloned());
            return;
        }
        push_capped(&mut self.session.host_ooms, || HostOom {
            kind: kept(kind, NAME_KEPT),
            requested,
            array: array.cloned(),
            at: Evidence::of(at),
            prompt,
        });
    }

    /// The type of an exception says that RAM was refused, whatever its text.
    pub(super) fn memory_error(&mut self, kind: &str, at: &At<'_>, prompt: u64, signs: &Signs) {
        let name = kind.rsplit('.').next().unwrap_or(kind);
        let reported = self.session.exceptions.iter().rposition(|exception| exception.from_report);
        if !signs.is_memory_fault(name) || !self.prompt_began && self.open_exception.or(reported).is_none() {
            return;
        }
        self.told_by_exception(at);
        if let Some(exception) =
            self.open_exception.or(reported).and_then(|index| self.session.exceptions.get_mut(index))
        {
            exception.is_oom = true;
        }
        self.new_host_oom(MEMORY_ERROR, None, None, at, prompt);
    }

    /// The line is the last one of a traceback whose head is cut off: both tell of one thing.
    fn told_by_exception(&mut self, at: &At<'_>) {
        let line = at.place.line;
        let ends_here =
            |exception: &&mut Exception| exception.last_line_at.as_ref().is_some_and(|last| last.place.line == line);
        if let Some(exception) = self.loose.iter_mut().chain(self.session.exceptions.iter_mut().rev()).find(ends_here) {
            exception.is_oom = true;
        }
    }

    /// Adds what a further line says to the OOM it belongs to. False when it is a new one.
    pub(super) fn complete_oom(
        &mut self,
        kind: &str,
        numbers: &OomNumbers,
        sizes: &[(String, String)],
        at: &At<'_>,
    ) -> bool {
        let open = self.open_oom.or_else(|| {
            // The Logs section of an Error Report tells again what its first lines told.
            self.session.ooms.iter().rposition(|oom| {
                oom.from_report
                    && oom.kind == kind
                    && (oom.numbers.requested == numbers.requested || numbers.requested.is_none())
            })
        });
        let Some(oom) = open.and_then(|index| self.session.ooms.get_mut(index)) else { return false };
        let upgrade = oom.kind == "allocation-on-device" && kind == "fraction";
        if !kind.is_empty() && oom.kind != kind && !upgrade && oom.kind != "unknown" {
            return false;
        }
        if upgrade || oom.kind == "unknown" && !kind.is_empty() {
            oom.kind = kept(kind, NAME_KEPT);
        }
        let line = at.place.line;
        oom.numbers.merge(numbers);
        if oom.from_report && self.open_exception.is_some() {
            oom.from_report = false;
            oom.at = Evidence::of(at);
            oom.last_line = line;
            oom.number_lines.clear();
            oom.prompt = self.session.prompts.executed + 1;
        }
        for (name, size) in sizes {
            if !oom.sizes.iter().any(|(known, _)| known == name) {
                oom.sizes.push((name.clone(), size.clone()));
            }
            oom.number_lines.entry(name.clone()).or_insert(line);
        }
        // A traceback's last line says the same again; only the fields that follow at once belong to the message.
        if kind.is_empty() && line > oom.last_line && line - oom.last_line <= FIELD_GAP {
            oom.last_line = line;
        }
        self.open_oom = open;
        true
    }

    pub(super) fn new_oom(
        &mut self,
        kind: &str,
        numbers: OomNumbers,
        sizes: Vec<(String, String)>,
        at: &At<'_>,
        prompt: u64,
        from_report: bool,
    ) {
        if !from_report {
            self.prompt.told.ooms += 1;
            self.prompt.told.failed = self.prompt_began;
        }
        if self.session.ooms.len() >= LIST_LIMIT {
            self.session.ooms_left_out += 1;
            self.open_oom = None;
            return;
        }
        let node = self
            .open_exception
            .and_then(|index| self.session.exceptions.get(index))
            .or_else(|| self.session.exceptions.iter().rev().find(|exception| exception.from_report))
            .and_then(|exception| exception.node.clone().zip(exception.node_line));
        let (node, node_line) = node.map_or((None, None), |(node, line)| (Some(node), Some(line)));
        let resident_mib = self.resident_now();
        let number_lines = sizes.iter().map(|(name, _)| (name.clone(), at.place.line)).collect();
        self.session.ooms.push(OomRecord {
            kind: kept(kind, NAME_KEPT),
            numbers,
            sizes,
            node,
            node_line,
            at: Evidence::of(at),
            last_line: at.place.line,
            number_lines,
            prompt,
            unloaded_all: None,
            from_report,
            resident_mib,
            last_load: self.last_class_name().zip(self.last_class.map(|(_, _, line)| line)),
            loading: self.group.requested.last().map(|class| self.names.text(*class).to_owned()),
            sampling: self.bar.filter(|bar| bar.done < bar.total).map(|bar| (bar.done, bar.total)),
            recovered: false,
        });
        self.open_oom = Some(self.session.ooms.len() - 1);
    }

    /// What the load lines said is on the card, by name, with the lines that said so.
    pub(super) fn resident_now(&self) -> Vec<(String, f64, u64)> {
        let resident =
            self.resident.iter().map(|(class, (mib, line))| (self.names.text(class).to_owned(), *mib, *line));
        let mut list: Vec<(String, f64, u64)> = resident.collect();
        list.sort_by(|a, b| a.0.cmp(&b.0));
        list
    }
}
