//! Everything that may stand in one pack file, and how one layer of packs goes over another.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::{DeserializeOwned, IntoDeserializer};
use serde::{Deserialize, Serialize};
use toml::Spanned;
use toml::de::DeValue;

use super::schema::{
    AimdoDef, AnswerDef, AvoidDef, BugDef, CauseDef, ClassDef, DefaultDef, FlagDef, FormDef, InputDef, LauncherDef,
    MentionDef, MessageDef, NodeDef, NodeTypesDef, OomPhraseDef, PackageDef, PlaceDef, PrecedenceDef, ReleaseDef,
    RemedyDef, SentenceDef, SignDef, StageDef, VerdictDef,
};

/// A pack file, or all files of a pack together.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PackFile {
    pub message: Vec<MessageDef>,
    pub oom_phrase: Vec<OomPhraseDef>,
    pub bug: Vec<BugDef>,
    pub node: Vec<NodeDef>,
    pub flag: Vec<FlagDef>,
    pub release: Vec<ReleaseDef>,
    pub default: Vec<DefaultDef>,
    pub aimdo: Vec<AimdoDef>,
    pub class: Vec<ClassDef>,
    pub verdict: Vec<VerdictDef>,
    pub precedence: Vec<PrecedenceDef>,
    pub remedy: Vec<RemedyDef>,
    pub avoid: Vec<AvoidDef>,
    pub launcher: Vec<LauncherDef>,
    pub form: Vec<FormDef>,
    pub sign: Vec<SignDef>,
    pub mention: Vec<MentionDef>,
    pub stage: Vec<StageDef>,
    pub cause: Vec<CauseDef>,
    pub package: Vec<PackageDef>,
    pub input: Vec<InputDef>,
    pub node_types: Vec<NodeTypesDef>,
    pub answer: Vec<AnswerDef>,
    pub place: Vec<PlaceDef>,
    pub sentence: Vec<SentenceDef>,
}

impl PackFile {
    /// Names of the tables.
    pub const TABLES: [&str; 25] = [
        "message",
        "oom_phrase",
        "bug",
        "node",
        "flag",
        "release",
        "default",
        "aimdo",
        "class",
        "verdict",
        "precedence",
        "remedy",
        "avoid",
        "launcher",
        "form",
        "sign",
        "mention",
        "stage",
        "cause",
        "package",
        "input",
        "node_types",
        "answer",
        "place",
        "sentence",
    ];

    /// Appends an item of `table`, or says what is wrong with it.
    pub(super) fn add(&mut self, table: &str, item: Spanned<DeValue<'_>>) -> Result<(), toml::de::Error> {
        match table {
            "message" => push(&mut self.message, item),
            "oom_phrase" => push(&mut self.oom_phrase, item),
            "bug" => push(&mut self.bug, item),
            "node" => push(&mut self.node, item),
            "flag" => push(&mut self.flag, item),
            "release" => push(&mut self.release, item),
            "default" => push(&mut self.default, item),
            "aimdo" => push(&mut self.aimdo, item),
            "class" => push(&mut self.class, item),
            "verdict" => push(&mut self.verdict, item),
            "precedence" => push(&mut self.precedence, item),
            "remedy" => push(&mut self.remedy, item),
            "avoid" => push(&mut self.avoid, item),
            "launcher" => push(&mut self.launcher, item),
            "form" => push(&mut self.form, item),
            "sign" => push(&mut self.sign, item),
            "mention" => push(&mut self.mention, item),
            "stage" => push(&mut self.stage, item),
            "cause" => push(&mut self.cause, item),
            "package" => push(&mut self.package, item),
            "input" => push(&mut self.input, item),
            "node_types" => push(&mut self.node_types, item),
            "answer" => push(&mut self.answer, item),
            "place" => push(&mut self.place, item),
            "sentence" => push(&mut self.sentence, item),
            _ => Ok(()),
        }
    }

    /// Lays `above` over this layer and tells the ids of what it replaced. Sentences are kept elsewhere.
    pub(super) fn lay(&mut self, above: Self, replaced: &mut Vec<String>) {
        lay(&mut self.message, above.message, |item| item.id.clone(), replaced);
        lay(&mut self.oom_phrase, above.oom_phrase, |item| item.id.clone(), replaced);
        lay(&mut self.bug, above.bug, |item| item.id.clone(), replaced);
        lay(&mut self.node, above.node, |item| item.id.clone(), replaced);
        lay(&mut self.flag, above.flag, |item| item.name.clone(), replaced);
        lay(&mut self.release, above.release, |item| item.version.to_string(), replaced);
        lay(&mut self.default, above.default, |item| item.id.clone(), replaced);
        lay(&mut self.aimdo, above.aimdo, AimdoDef::key, replaced);
        lay(&mut self.class, above.class, ClassDef::key, replaced);
        lay(&mut self.verdict, above.verdict, |item| item.id.to_string(), replaced);
        lay(&mut self.precedence, above.precedence, |item| item.rank.to_string(), replaced);
        lay(&mut self.remedy, above.remedy, |item| item.id.clone(), replaced);
        lay(&mut self.avoid, above.avoid, |item| item.id.clone(), replaced);
        lay(&mut self.launcher, above.launcher, |item| item.id.clone(), replaced);
        lay(&mut self.form, above.form, |item| item.id.clone(), replaced);
        lay(&mut self.sign, above.sign, |item| item.id.clone(), replaced);
        lay(&mut self.mention, above.mention, |item| item.id.clone(), replaced);
        lay(&mut self.stage, above.stage, |item| item.id.clone(), replaced);
        lay(&mut self.cause, above.cause, |item| item.id.clone(), replaced);
        lay(&mut self.package, above.package, |item| item.id.clone(), replaced);
        lay(&mut self.input, above.input, |item| item.id.clone(), replaced);
        lay(&mut self.answer, above.answer, |item| item.id.clone(), replaced);
        lay(&mut self.place, above.place, |item| item.id.clone(), replaced);
        self.release.sort_by_key(|release| release.version);
    }
}

fn push<T: DeserializeOwned>(items: &mut Vec<T>, item: Spanned<DeValue<'_>>) -> Result<(), toml::de::Error> {
    items.push(T::deserialize(item.into_deserializer())?);
    Ok(())
}

/// Replaces the items of `below` that have the same key, appends the others.
fn lay<T>(below: &mut Vec<T>, above: Vec<T>, key: impl Fn(&T) -> String, replaced: &mut Vec<String>) {
    if above.is_empty() {
        return;
    }
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for (place, item) in below.iter().enumerate() {
        places.entry(key(item)).or_insert(place);
    }
    for item in above {
        let id = key(&item);
        match places.get(&id).and_then(|place| below.get_mut(*place)) {
            Some(slot) => {
                *slot = item;
                replaced.push(id);
            }
            None => {
                places.insert(id, below.len());
                below.push(item);
            }
        }
    }
}
