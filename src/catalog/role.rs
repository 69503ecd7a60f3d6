//! What the program uses flags of ComfyUI for: it knows the purpose, the packs know what the flag is called.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pack::Packs;
use super::schema::FlagDef;
use super::version::{Since, Version};

/// What a flag is good for to this program. A flag of another name that does the same gets the same role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlagRole {
    /// Loads no node pack.
    NodesOff,
    /// Names, as its values, the node packs that are loaded although all are off.
    NodesKept,
    /// Goes back to loading models by estimate.
    DynamicVramOff,
    /// Keeps weights off the card, whatever room there is.
    WeightsOffCard,
    /// Pins no memory.
    PinningOff,
    /// Gives models or results up after each use, so that every prompt loads again.
    Reloading,
    /// Lets the cache give way while so many GiB of RAM, its first value, are still free.
    CacheHeadroom,
    /// Keeps a given number of results.
    CacheCount,
    /// Keeps no results.
    CacheOff,
}

impl FlagRole {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::NodesOff,
        Self::NodesKept,
        Self::DynamicVramOff,
        Self::WeightsOffCard,
        Self::PinningOff,
        Self::Reloading,
        Self::CacheHeadroom,
        Self::CacheCount,
        Self::CacheOff,
    ];

    /// As packs write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::NodesOff => "nodes-off",
            Self::NodesKept => "nodes-kept",
            Self::DynamicVramOff => "dynamic-vram-off",
            Self::WeightsOffCard => "weights-off-card",
            Self::PinningOff => "pinning-off",
            Self::Reloading => "reloading",
            Self::CacheHeadroom => "cache-headroom",
            Self::CacheCount => "cache-count",
            Self::CacheOff => "cache-off",
        }
    }
}

impl FlagDef {
    /// The flag, or a short form of it.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.iter().any(|alias| alias == name)
    }

    /// `version` has the flag. One whose beginning is not established is taken for missing.
    pub fn exists_in(&self, version: Version) -> bool {
        let since = match self.since {
            Since::At(since) => since <= version,
            Since::BeforeNumbers => true,
            Since::Unknown => false,
        };
        since && self.until.is_none_or(|until| version <= until)
    }

    /// The flag with the value that serves most, where it takes one.
    pub fn as_suggested(&self) -> String {
        if self.usual.is_empty() { self.name.clone() } else { format!("{} {}", self.name, self.usual) }
    }
}

impl Packs {
    /// What is known of the flag `name`.
    pub fn flag(&self, name: &str) -> Option<&FlagDef> {
        self.flags.iter().find(|def| def.is_called(name))
    }

    /// The flag `name` is good for `role`.
    pub fn plays(&self, name: &str, role: FlagRole) -> bool {
        self.flag(name).is_some_and(|def| def.roles.contains(&role))
    }

    /// The flag for `role` in `version`.
    pub fn flag_in(&self, role: FlagRole, version: Version) -> Option<&FlagDef> {
        self.flags.iter().find(|def| def.roles.contains(&role) && def.exists_in(version))
    }

    /// The flag for `role` that is not gone yet, else the last one there was.
    pub fn flag_for(&self, role: FlagRole) -> Option<&FlagDef> {
        let playing = || self.flags.iter().filter(move |def| def.roles.contains(&role));
        playing().find(|def| def.until.is_none()).or_else(|| playing().max_by_key(|def| def.until))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_renamed_flag_keeps_its_role() {
        let mut packs = Packs::built_in();
        let old = packs.flags.iter_mut().find(|def| def.roles.contains(&FlagRole::PinningOff));
        let old = old.expect("a flag that turns pinning off");
        old.until = Some(Version::new(9, 0, 0));
        let mut new = old.clone();
        new.name = "--never-pin".to_owned();
        new.since = Since::At(Version::new(9, 0, 1));
        new.until = None;
        packs.flags.push(new);
        let name = |version| packs.flag_in(FlagRole::PinningOff, version).map(|def| def.name.as_str());
        assert_eq!(name(Version::new(0, 35, 0)), Some("--disable-pinned-memory"));
        assert_eq!(name(Version::new(9, 1, 0)), Some("--never-pin"));
        assert_eq!(name(Version::new(0, 3, 0)), None, "no version before it has the flag");
        assert_eq!(packs.flag_for(FlagRole::PinningOff).map(|def| def.name.as_str()), Some("--never-pin"));
    }

    #[test]
    fn the_built_in_pack_has_a_flag_for_each_role() {
        let packs = Packs::built_in();
        for role in FlagRole::ALL {
            assert!(packs.flag_for(role).is_some(), "{}", role.name());
            assert_eq!(serde_json::to_value(role).expect("a word"), role.name());
        }
    }
}
