//! Prompts that ComfyUI refused, outputs it left out, and requests it could not answer.

use super::{LIST_LIMIT, NAME_KEPT, Open, TEXT_KEPT, kept};
use crate::event::{At, Fields};
use crate::timeline::evidence::{Evidence, count};
use crate::timeline::refusal::Refusal;

/// Which output and node the next reasons are about.
#[derive(Debug, Clone, Default)]
pub(super) struct Refusing {
    output: Option<String>,
    node_id: Option<String>,
    node_type: Option<String>,
    /// Reasons in `Session::refusals` told since the prompt was received.
    from: usize,
    /// Outputs left out since the prompt was received.
    ignored: u64,
}

fn field<'f>(fields: &'f Fields<'_>, name: &str) -> Option<&'f str> {
    fields.iter().find(|(known, _)| *known == name).map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
}

/// A value as Python prints it, without its quotes.
fn unquoted(text: &str) -> &str {
    let strip = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    strip('\'').or_else(|| strip('"')).unwrap_or(text)
}

impl Open {
    /// A prompt was received: what was refused before is another prompt's.
    pub(super) fn begin_refusing(&mut self) {
        self.refusing = Refusing { from: self.session.refusals.len(), ..Refusing::default() };
    }

    /// A line of the check: it names an output, a node or a reason.
    pub(super) fn prompt_detail(&mut self, fields: &Fields<'_>, at: &At<'_>) {
        let own = |name: &str| field(fields, name).map(|text| kept(text, NAME_KEPT));
        if let Some(output) = own("output").map(|output| output.trim_end_matches(':').to_owned()) {
            self.refusing.output = Some(output);
            (self.refusing.node_id, self.refusing.node_type) = (None, None);
        }
        if own("kind").is_none() {
            if let Some(node_type) = own("node_type") {
                self.refusing.node_type = Some(node_type);
                self.refusing.node_id = own("node_id");
            }
            return;
        }
        let refusal = Refusal {
            at: Evidence::of(at),
            kind: own("kind").unwrap_or_default(),
            output: self.refusing.output.clone(),
            node_id: own("node_id").or_else(|| self.refusing.node_id.clone()),
            node_type: own("node_type").or_else(|| self.refusing.node_type.clone()),
            input: own("input"),
            value: field(fields, "value").map(|text| kept(unquoted(text), TEXT_KEPT)),
            list: field(fields, "list").map(|text| kept(text, TEXT_KEPT)),
            output_only: false,
            count: 1,
        };
        if let Some(known) = self.session.refusals.iter_mut().find(|known| known.repeats(&refusal)) {
            known.count += 1;
        } else if self.session.refusals.len() < LIST_LIMIT {
            self.session.refusals.push(refusal);
        }
    }

    /// An output is left out. What comes next tells whether others run.
    pub(super) fn output_ignored(&mut self, at: &At<'_>) {
        self.refusing.ignored += 1;
        self.session.prompts.ignored += 1;
        self.session.ignored_at.get_or_insert_with(|| Evidence::of(at));
        self.moved = false;
    }

    /// The whole prompt was refused: none of its outputs was merely left out.
    pub(super) fn prompt_refused(&mut self, fields: &Fields<'_>, at: &At<'_>) {
        self.session.prompts.invalid += 1;
        self.session.prompts.ignored -= self.refusing.ignored.min(self.session.prompts.ignored);
        self.refusing.ignored = 0;
        self.session.invalid_at.get_or_insert_with(|| Evidence::of(at));
        if field(fields, "kind").is_some() {
            self.prompt_detail(fields, at);
        }
        self.moved = false;
        self.close_waiting();
    }

    /// The prompt runs: what was refused of it is an output.
    pub(super) fn settle_refusing(&mut self) {
        let from = self.refusing.from;
        for refusal in self.session.refusals.iter_mut().skip(from) {
            refusal.output_only = true;
        }
        self.begin_refusing();
    }

    /// The server failed to answer a request: a prompt that was received just before is not queued.
    pub(super) fn request_failed(&mut self, at: &At<'_>) {
        let prompt = self.session.current_prompt();
        count(&mut self.session.counts.requests_failed, at, prompt);
        if self.prompt_began && self.only_received {
            self.session.prompts.invalid += 1;
            self.moved = false;
            self.close_waiting();
        }
    }

    /// No prompt is left that could be running.
    fn close_waiting(&mut self) {
        let prompts = self.session.prompts;
        let waiting = prompts.got > prompts.executed + prompts.invalid;
        if !waiting && self.prompt.requested.is_empty() && !self.prompt.told.failed {
            self.prompt_began = false;
        }
    }
}
