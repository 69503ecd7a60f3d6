//! Lints of signs: each shows something that the program knows, in a place where texts are.

use super::lists::FACTS;
use super::{Finding, Lint};
use crate::catalog::{SignDef, SignOf, SignPlace};

const SYSTEMS: [&str; 4] = ["windows", "linux", "wsl", "macos"];
const MAKERS: [&str; 6] = ["nvidia", "amd", "intel", "apple", "directml", "cpu"];
const CONSTRAINTS: [&str; 2] = ["container", "machine"];
const PHASES: [&str; 6] = ["loading", "patching", "text-encoding", "sampling", "decoding", "encoding"];
const REQUESTERS: [&str; 2] = ["whole-video", "upscaler"];
const OUTSIDE: [&str; 20] = [
    "network",
    "refused",
    "disk",
    "access",
    "old-python",
    "port",
    "gpu-driver",
    "gpu-build",
    "user",
    "compiler",
    "python-headers",
    "broken-file",
    "web-page",
    "names-remedy",
    "library-kernels",
    "program-package",
    "database",
    "driver-broken",
    "wrong-model",
    "frontend",
];

// Long: a list of independent checks of one item.
pub(super) fn check(lint: &Lint<'_>, findings: &mut Vec<Finding>) {
    for (source, item) in lint.table("sign") {
        let Ok(sign) = serde_json::from_value::<SignDef>(serde_json::Value::Object(item.fields.clone())) else {
            continue;
        };
        let words: Option<&[&str]> = match sign.of {
            SignOf::Os => Some(&SYSTEMS),
            SignOf::Gpu => Some(&MAKERS),
            SignOf::Outside => Some(&OUTSIDE),
            SignOf::KillConstraint => Some(&CONSTRAINTS),
            SignOf::Phase => Some(&PHASES),
            SignOf::Requester => Some(&REQUESTERS),
            SignOf::Circumstance
            | SignOf::OwnFolder
            | SignOf::CommandLine
            | SignOf::Process
            | SignOf::Command
            | SignOf::OtherService
            | SignOf::NodeFolder
            | SignOf::LibraryFolder
            | SignOf::Consequence
            | SignOf::PasteHead
            | SignOf::PastePhrase
            | SignOf::RequirementsCommand
            | SignOf::OtherProgram
            | SignOf::UserSite
            | SignOf::OwnNodes
            | SignOf::StartScript
            | SignOf::ModelFolder
            | SignOf::OuterFolder
            | SignOf::ImportFault
            | SignOf::MainFile
            | SignOf::ExecutorFile
            | SignOf::LimitQuestion
            | SignOf::ContainerEnd
            | SignOf::SharedArea
            | SignOf::MemoryFault
            | SignOf::KillCode
            | SignOf::StopCode
            | SignOf::CrashKind
            | SignOf::Library
            | SignOf::PassedLibrary
            | SignOf::Fault
            | SignOf::Switch
            | SignOf::Silence
            | SignOf::StartEnd
            | SignOf::LoaderPack
            | SignOf::CrashCode
            | SignOf::HidingPack => None,
        };
        if let Some(words) = words.filter(|words| !words.contains(&sign.is.as_str())) {
            let message = format!("`{}` is not one of the words for this field", sign.is);
            let help = format!("use one of: {}", words.join(", "));
            findings.push(Finding::at("word", source, item, "is", message).help(help));
        }
        if !sign.says.is_empty() && lint.packs.sentence(&sign.says, false).is_none() {
            let message = format!("there is no sentence `{}`", sign.says);
            findings.push(Finding::at("reference", source, item, "says", message).help("write a [[sentence]] for it"));
        }
        let facts = sign.with.keys().map(|name| (format!("with.{name}"), name.as_str()));
        let own = (sign.place == SignPlace::Fact).then(|| ("fact".to_owned(), sign.fact.as_str()));
        for (field, name) in facts.chain(own).filter(|(_, name)| !FACTS.contains(name)) {
            let message = format!("there is no fact `{name}`");
            let help = "the facts are listed in docs/rule-format.md";
            findings.push(Finding::at("fact", source, item, &field, message).help(help));
        }
    }
}
