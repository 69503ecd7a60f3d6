//! Makes `enum Verdict` and its table of properties from the files of `rules/verdicts/`.
//!
//! What a file says in words that the program does not know, or does not say, is then an error of the compiler.

use std::error::Error;
use std::fmt::Write as _;

use serde_json::{Map, Value};

/// Rust code for the verdicts in `items`, which are in the order of their files.
// Long: it writes one Rust file from top to bottom, in the order in which that file is read.
pub fn code(items: &[Map<String, Value>]) -> Result<String, Box<dyn Error>> {
    let mut variants = String::new();
    let mut ids = String::new();
    let mut rows = String::new();
    for item in items {
        let id = text(item, "id");
        let variant = pascal(id);
        let name = item.get("name").and_then(|name| name.get("en")).and_then(Value::as_str).unwrap_or(id);
        writeln!(variants, "    /// {name}\n    {variant},")?;
        writeln!(ids, "            Self::{variant} => {id:?},")?;
        writeln!(rows, "            Self::{variant} => &Properties {{")?;
        writeln!(rows, "                class: VerdictClass::{},", pascal(text(item, "class")))?;
        writeln!(rows, "                route: ChecklistRoute::{},", pascal(text(item, "checklist")))?;
        let sought = match text(item, "bisect") {
            "" => "None".to_owned(),
            sought => format!("Some(Sought::{})", pascal(sought)),
        };
        writeln!(rows, "                sought: {sought},")?;
        for field in ["answers", "asked", "acts_on"] {
            writeln!(rows, "                {field}: &{:?},", texts(item.get(field)))?;
        }
        let structure = item.get("structure").and_then(Value::as_str);
        writeln!(rows, "                structure: {structure:?},")?;
        for field in ["acts_on_what_it_is_about", "only_own_remedies"] {
            let holds = item.get(field).and_then(Value::as_bool).unwrap_or(false);
            writeln!(rows, "                {field}: {holds},")?;
        }
        let about = item.get("acts_on_for").and_then(Value::as_object).into_iter().flatten();
        let about: Vec<(&String, Vec<&str>)> = about.map(|(about, parts)| (about, texts(Some(parts)))).collect();
        let about: Vec<String> = about.iter().map(|(about, parts)| format!("({about:?}, &{parts:?})")).collect();
        writeln!(rows, "                acts_on_for: &[{}],", about.join(", "))?;
        let number = |place: &Value, field: &str| place.get(field).and_then(Value::as_u64);
        let places = item.get("precedence").and_then(Value::as_array).into_iter().flatten();
        let places: Option<Vec<(u64, u64)>> =
            places.map(|place| Some((number(place, "rank")?, number(place, "place")?))).collect();
        let places = places.ok_or_else(|| format!("{id}: a place of precedence needs `rank` and `place`"))?;
        writeln!(rows, "                precedence: &{places:?},\n            }},")?;
    }
    let all: Vec<String> = items.iter().map(|item| format!("Self::{}", pascal(text(item, "id")))).collect();
    Ok(format!(
        "/// What a log may be said to show. One file in `rules/verdicts/` for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = \"kebab-case\")]
pub enum Verdict {{
{variants}}}

impl Verdict {{
    /// All verdicts, by their ids.
    pub const ALL: [Self; {count}] = [{all}];

    /// The id: its name in rule packs, in JSON and in `explain`.
    pub const fn as_str(self) -> &'static str {{
        match self {{
{ids}        }}
    }}

    const fn properties(self) -> &'static Properties {{
        match self {{
{rows}        }}
    }}
}}
",
        count = items.len(),
        all = all.join(", "),
    ))
}

fn text<'v>(item: &'v Map<String, Value>, field: &str) -> &'v str {
    item.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn texts(list: Option<&Value>) -> Vec<&str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

/// `gpu-oom` becomes `GpuOom`.
fn pascal(id: &str) -> String {
    let words = id.split('-').filter_map(|word| Some((word.get(..1)?, word.get(1..)?)));
    words.map(|(first, rest)| first.to_uppercase() + rest).collect()
}
