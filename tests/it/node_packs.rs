//! Types of nodes are told with the pack that brings them, where the packs know it.
#![allow(clippy::unwrap_used)]

use comfy_triage::catalog::Packs;
use comfy_triage::input::{ReadOptions, Source};
use comfy_triage::report::{Question, Report, answer, read_log};

fn report(log: &str) -> Report {
    let packs = Packs::built_in();
    let source = Source::from_reader("log", std::io::Cursor::new(log.as_bytes().to_vec())).unwrap();
    let read = read_log(source, &packs, &ReadOptions::default()).unwrap();
    answer("log", &read, &packs, &Question::default())
}

fn refused(node: &str) -> Report {
    report(&format!(
        "got prompt\ninvalid prompt: {{'type': 'invalid_prompt', 'message': 'Cannot execute because node {node} does not exist.', 'details': \"Node ID '#6'\", 'extra_info': {{}}}}\n"
    ))
}

#[test]
fn the_packs_that_people_use_most_are_known_by_their_nodes() {
    let packs = Packs::built_in();
    assert!(packs.node_types.len() >= 50, "{}", packs.node_types.len());
    let of = |node: &str| packs.pack_of(node).map(|pack| pack.name.as_str());
    for (node, pack) in [
        ("VHS_VideoCombine", "ComfyUI-VideoHelperSuite"),
        ("UnetLoaderGGUF", "ComfyUI-GGUF"),
        ("FaceDetailer", "ComfyUI-Impact-Pack"),
        ("IPAdapterAdvanced", "ComfyUI_IPAdapter_plus"),
        ("WanVideoSampler", "ComfyUI-WanVideoWrapper"),
        ("ETN_BackgroundRegion", "comfyui-tooling-nodes"),
        ("UltimateSDUpscale", "ComfyUI_UltimateSDUpscale"),
    ] {
        assert_eq!(of(node), Some(pack), "{node}");
    }
    for core in ["KSampler", "VAEDecode", "CheckpointLoaderSimple", "SaveImage", "WanImageToVideo", "LoadImage"] {
        assert_eq!(of(core), None, "{core} is ComfyUI's own");
    }
}

#[test]
fn a_type_is_listed_for_one_pack() {
    let packs = Packs::built_in();
    for pack in &packs.node_types {
        for node in &pack.types {
            let others: Vec<&str> = packs
                .node_types
                .iter()
                .filter(|other| other.types.contains(node) && other.id != pack.id)
                .map(|other| other.name.as_str())
                .collect();
            assert!(others.is_empty(), "{node} of {}: {others:?}", pack.name);
            let node = node.trim_end_matches('*');
            assert_eq!(packs.pack_of(node).map(|found| &found.id), Some(&pack.id), "{node}");
        }
    }
}

#[test]
fn a_missing_node_is_told_with_its_pack() {
    let report = refused("ETN_BackgroundRegion");
    let step = &report.next_steps.first().unwrap().text;
    assert!(step.starts_with("Install comfyui-tooling-nodes, the pack that brings ETN_BackgroundRegion"), "{step}");
    assert!(report.verdict.headline.contains("comfyui-tooling-nodes"), "{}", report.verdict.headline);
    let unknown = refused("ZorblaxMagicNode");
    let step = &unknown.next_steps.first().unwrap().text;
    assert!(step.starts_with("Install the pack that brings ZorblaxMagicNode"), "{step}");
}

#[test]
fn a_failing_node_is_told_with_its_pack() {
    let report = report("Error occurred when executing WanVideoSampler:\n\nAllocation on device \n");
    let node = report.findings[0].figures.iter().find(|figure| figure.name == "node").unwrap();
    assert_eq!(node.text, "failing node: WanVideoSampler (of the node pack ComfyUI-WanVideoWrapper)");
    assert_eq!(node.lines, [1]);
}
