//! All tests of the program in one binary, a module per subject: linking one program is quicker than linking fifty.
//!
//! `soak.rs` and `memory.rs` beside this folder measure the memory of their whole process and so are programs of their own.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::string_slice)] // a test may fail loudly

mod bisect_world;
mod case;
mod crashes;
mod probe_world;
mod rule;

mod accuracy;
mod advice;
mod all;
mod beside;
mod bisect;
mod bisect_simulation;
mod blocks;
mod bounds;
mod boxed;
mod cases;
mod cgroup;
mod checklist;
mod cli;
mod compare;
mod cuts;
mod dialect;
mod dialects;
mod docs;
mod doors;
mod doubled;
mod endings;
mod explain;
mod failures;
mod folders;
mod folders_single;
mod follow;
mod handled;
mod help;
mod imports;
mod invariants;
mod issue;
mod killed;
mod layers;
mod licences;
mod lint;
mod many_starts;
mod near;
mod newest;
mod node_packs;
mod numbers;
mod packs;
mod page;
mod parity;
mod parts;
mod plants;
mod probe;
mod redact;
mod redact_cost;
mod rules;
mod run;
mod said;
mod schema;
mod signals;
mod sizes;
mod slow;
mod stops;
mod supervisors;
mod terminal;
mod transcripts;
mod upstream;
mod verdict_docs;
mod version_bounds;
mod versions;
mod watch;
mod ways_out;
mod windows;
