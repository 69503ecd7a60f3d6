//! What the packs say by which a kill, a crash and a node pack are known, kept for the length of a log.

use crate::catalog::{Packs, Rule, SignDef, SignOf, SignPlace};
use crate::event::Whose;

/// Exit codes that Unix and shells have; what lies beyond is a status of Windows.
const CODES: std::ops::RangeInclusive<i64> = -64..=255;

/// Who stopped the program, as signs of a cause outside call the user.
const USER: &str = "user";
/// What works where there is no card, as signs of cards call it.
const PROCESSOR: &str = "cpu";
/// A limit on less than the whole machine, as signs of the kernel's constraints call it.
const CONTAINER: &str = "container";

/// The signs that the story is told with.
#[derive(Debug, Clone)]
pub(crate) struct Signs {
    processes: Vec<SignDef>,
    commands: Vec<SignDef>,
    other_services: Vec<SignDef>,
    main_files: Vec<SignDef>,
    executor_files: Vec<SignDef>,
    limit_questions: Vec<SignDef>,
    /// Devices that are no card.
    processors: Vec<SignDef>,
    constraints: Vec<SignDef>,
    kill_codes: Vec<SignDef>,
    crash_codes: Vec<SignDef>,
    stops: Vec<SignDef>,
    node_folders: Vec<String>,
    model_folders: Vec<SignDef>,
    outer_folders: Vec<SignDef>,
    memory_faults: Vec<SignDef>,
    phases: Vec<SignDef>,
    requesters: Vec<SignDef>,
    library_folders: Vec<SignDef>,
    own_nodes: Vec<SignDef>,
    start_scripts: Vec<SignDef>,
    requirements: Vec<SignDef>,
    other_programs: Vec<SignDef>,
    /// Stages of a start: id and order.
    stages: Vec<(String, u32)>,
    /// By the number of a rule: which of `stages` its text shows, counted from 1.
    stage_of_rule: Vec<u8>,
}

fn in_frames(sign: &&SignDef) -> bool {
    sign.place == SignPlace::Frame
}

impl Signs {
    /// The type of an exception, without its module, says that RAM was refused.
    pub(crate) fn is_memory_fault(&self, kind: &str) -> bool {
        self.memory_faults.iter().any(|sign| sign.fits(kind))
    }

    /// The step of the work that a frame, or its source line, shows.
    pub(crate) fn phase(&self, frame: &str) -> Option<&str> {
        self.phases.iter().find(|sign| sign.fits(frame)).map(|sign| sign.is.as_str())
    }

    /// What kind of node a frame, or its source line, belongs to.
    pub(crate) fn requester(&self, frame: &str) -> Option<&str> {
        self.requesters.iter().find(|sign| sign.fits(frame)).map(|sign| sign.is.as_str())
    }

    pub(crate) fn of(packs: &Packs) -> Self {
        let signs = |of: SignOf| packs.signs_of(of).cloned().collect();
        Self {
            processes: signs(SignOf::Process),
            commands: signs(SignOf::Command),
            other_services: signs(SignOf::OtherService),
            main_files: signs(SignOf::MainFile),
            executor_files: signs(SignOf::ExecutorFile),
            limit_questions: signs(SignOf::LimitQuestion),
            processors: packs.signs_of(SignOf::Gpu).filter(|sign| sign.is == PROCESSOR).cloned().collect(),
            constraints: signs(SignOf::KillConstraint),
            kill_codes: signs(SignOf::KillCode),
            crash_codes: signs(SignOf::CrashCode),
            stops: packs.signs_of(SignOf::Outside).filter(|sign| sign.is == USER).cloned().collect(),
            node_folders: packs.node_folders().map(str::to_owned).collect(),
            model_folders: signs(SignOf::ModelFolder),
            outer_folders: signs(SignOf::OuterFolder),
            memory_faults: signs(SignOf::MemoryFault),
            phases: packs.signs_of(SignOf::Phase).filter(in_frames).cloned().collect(),
            requesters: packs.signs_of(SignOf::Requester).filter(in_frames).cloned().collect(),
            library_folders: signs(SignOf::LibraryFolder),
            own_nodes: signs(SignOf::OwnNodes),
            start_scripts: signs(SignOf::StartScript),
            requirements: signs(SignOf::RequirementsCommand),
            other_programs: signs(SignOf::OtherProgram),
            stages: packs.stages.iter().map(|stage| (stage.id.clone(), stage.order)).collect(),
            stage_of_rule: stages_of_rules(packs),
        }
    }

    /// The file belongs to an installed Python package.
    pub(crate) fn in_library(&self, file: &str) -> bool {
        file.split(['/', '\\']).any(|folder| self.library_folders.iter().any(|sign| sign.fits(folder)))
    }

    /// The file holds nodes that ship with ComfyUI.
    pub(crate) fn is_own_nodes(&self, path: &str) -> bool {
        self.own_nodes.iter().any(|sign| sign.fits(path))
    }

    /// The file is a node pack's script that runs before ComfyUI starts.
    pub(crate) fn is_start_script(&self, path: &str) -> bool {
        self.start_scripts.iter().any(|sign| sign.fits(path))
    }

    /// The line is a command that installs what ComfyUI itself requires.
    pub(crate) fn is_requirements_command(&self, text: &str) -> bool {
        self.requirements.iter().any(|sign| sign.fits(text))
    }

    /// The program that has models of this class, where that is not ComfyUI.
    pub(crate) fn program_of_class(&self, class: &str) -> Option<&str> {
        self.other_programs.iter().find(|sign| sign.fits(class)).map(|sign| sign.is.as_str())
    }

    /// The stage of a start that the text of this rule shows.
    pub(crate) fn stage_of(&self, rule: usize) -> Option<(&str, u32)> {
        let stage = usize::from(*self.stage_of_rule.get(rule)?).checked_sub(1)?;
        self.stages.get(stage).map(|(id, order)| (id.as_str(), *order))
    }

    /// The process may be ComfyUI's; a log that does not name it speaks of its own.
    pub(crate) fn may_be_comfyui(&self, name: &str) -> bool {
        let name = name.trim_matches(|letter| letter == '(' || letter == ')');
        name.is_empty() || self.processes.iter().any(|sign| sign.fits(name))
    }

    /// What ended may be ComfyUI. A command is told as it was typed; a service has the name that its owner gave it.
    pub(crate) fn may_be_comfyuis(&self, whose: &Whose<'_>) -> bool {
        let fits = |signs: &[SignDef], text: &str| signs.iter().any(|sign| sign.fits(text.trim()));
        match whose {
            Whose::Unsaid => true,
            Whose::Process(name) => self.may_be_comfyui(name),
            Whose::Command(command) => fits(&self.commands, command),
            Whose::Service(service) => !fits(&self.other_services, service),
        }
    }

    /// The exception that Ctrl-C raises.
    pub(crate) fn is_stop(&self, kind: &str) -> bool {
        self.stops.iter().any(|sign| sign.fits(kind))
    }

    /// The file is ComfyUI's main program.
    pub(crate) fn is_main(&self, file: &str) -> bool {
        is_file(&self.main_files, file)
    }

    /// The file runs the nodes of a prompt.
    pub(crate) fn is_executor(&self, file: &str) -> bool {
        is_file(&self.executor_files, file)
    }

    /// The line asks for a container's limit, and the next one may answer with a number.
    pub(crate) fn asks_for_limit(&self, text: &str) -> bool {
        self.limit_questions.iter().any(|sign| sign.fits(text))
    }

    /// The device is no card.
    pub(crate) fn is_processor(&self, device: &str) -> bool {
        self.processors.iter().any(|sign| sign.fits(device))
    }

    /// The kernel's word for the limit of a container or a service.
    pub(crate) fn container_constraint(&self) -> Option<&str> {
        self.constraints
            .iter()
            .filter(|sign| sign.is == CONTAINER)
            .flat_map(|sign| &sign.equals)
            .next()
            .map(String::as_str)
    }

    /// The exit code of a program that was killed.
    pub(crate) fn is_kill_code(&self, code: i64) -> bool {
        let code = code.to_string();
        self.kill_codes.iter().any(|sign| sign.fits(&code))
    }

    /// The exit code of a native crash.
    pub(crate) fn is_crash_code(&self, code: i64) -> bool {
        // Windows gives its status with or without a sign.
        let text = if CODES.contains(&code) { code.to_string() } else { format!("0x{:08X}", code as u32) };
        self.crash_codes.iter().any(|sign| sign.fits(&text))
    }

    /// The folder of the node pack that a file belongs to.
    pub(crate) fn node_dir<'f>(&self, file: &'f str) -> Option<&'f str> {
        let is_slash = |letter| matches!(letter, '/' | '\\');
        let behind = |folder: &String| {
            let (at, found) = file
                .rmatch_indices(folder.as_str())
                .find(|(at, found)| file.get(at + found.len()..).is_some_and(|rest| rest.starts_with(is_slash)))?;
            let rest = file.get(at + found.len() + 1..)?;
            rest.split(is_slash).next().filter(|dir| !dir.is_empty())
        };
        self.node_folders.iter().find_map(behind)
    }

    /// The file lies in ComfyUI's own packages of models; a folder somewhere above that only has such a name does not
    /// count.
    pub(crate) fn in_model_code(&self, file: &str) -> bool {
        let fits = |signs: &[SignDef], part: &str| signs.iter().any(|sign| sign.fits(part));
        let folders = file.rsplit(['/', '\\']).skip(1);
        let inner = folders.map_while(|part| {
            let model = fits(&self.model_folders, part);
            (model || !fits(&self.outer_folders, &part.to_ascii_lowercase())).then_some(model)
        });
        inner.into_iter().any(|model| model)
    }
}

fn stages_of_rules(packs: &Packs) -> Vec<u8> {
    let of_rule = |rule: &Rule| {
        let stage = packs.stages.iter().position(|stage| stage.has(&rule.id));
        stage.and_then(|stage| u8::try_from(stage + 1).ok()).unwrap_or(0)
    };
    packs.matcher().rules().iter().map(of_rule).collect()
}

fn is_file(signs: &[SignDef], path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    signs.iter().any(|sign| sign.fits(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_code_is_told_from_folders_of_the_same_name() {
        let signs = Signs::of(&Packs::built_in());
        assert!(signs.in_model_code(r"C:\comfy\ComfyUI\comfy\ldm\flux\model.py"));
        assert!(signs.in_model_code("/opt/ComfyUI/comfy_extras/nodes_wan.py"));
        assert!(!signs.in_model_code("/home/u/comfy/ComfyUI/main.py"));
        assert!(!signs.in_model_code("/home/u/comfy/venv/lib/python3.12/site-packages/torch/nn/functional.py"));
        assert!(!signs.in_model_code("/home/u/comfy/ComfyUI/custom_nodes/pack/comfyui_x/nodes.py"));
    }

    #[test]
    fn crash_codes_are_told_from_kills_and_stops() {
        let signs = Signs::of(&Packs::built_in());
        for code in [3221225477, 139, -1073741819, 134, -11, 4294967295] {
            assert!(signs.is_crash_code(code), "{code}");
        }
        for code in [137, 0, 1, -1, 3221225786, 255, 1073807364] {
            assert!(!signs.is_crash_code(code), "{code}");
        }
        assert!(signs.is_kill_code(137) && signs.is_kill_code(-9));
        assert!(!signs.is_kill_code(1) && !signs.is_kill_code(1137));
    }

    #[test]
    fn what_ended_is_told_from_other_programs() {
        let signs = Signs::of(&Packs::built_in());
        let command = |text: &'static str| signs.may_be_comfyuis(&Whose::Command(text.into()));
        for text in ["python main.py", "\"$PYTHON\" main.py $ARGS", "./run_nvidia.sh", "/opt/ComfyUI/start --listen"] {
            assert!(command(text), "{text}");
        }
        for text in ["ffmpeg -i in.mp4 out.mp4", "ollama serve", "(core dumped) tail -f /dev/null"] {
            assert!(!command(text), "{text}");
        }
        let service = |text: &'static str| signs.may_be_comfyuis(&Whose::Service(text.into()));
        assert!(service("comfyui-1") && service("gpu.service") && service("dbus-comfy"));
        assert!(!service("db-1") && !service("stack-redis-1") && !service("ollama.service"));
        assert!(signs.may_be_comfyuis(&Whose::Unsaid));
    }

    #[test]
    fn files_and_devices_of_comfyui_are_told_from_others() {
        let signs = Signs::of(&Packs::built_in());
        assert!(signs.is_main("/opt/ComfyUI/main.py") && signs.is_main(r"D:\ComfyUI\main.py"));
        assert!(!signs.is_main("/opt/ComfyUI/domain.py") && !signs.is_main("main.py/x"));
        assert!(signs.is_executor("/opt/ComfyUI/execution.py") && signs.is_executor("execution.py"));
        assert!(!signs.is_executor("/opt/ComfyUI/custom_nodes/x/my_execution.py"));
        assert!(signs.is_processor("cpu") && !signs.is_processor("cuda:0"));
        assert!(signs.asks_for_limit("docker inspect comfyui --format \"{{.HostConfig.Memory}}\""));
        assert!(!signs.asks_for_limit("docker inspect comfyui"));
        assert_eq!(signs.container_constraint(), Some("CONSTRAINT_MEMCG"));
    }

    #[test]
    fn the_folder_of_a_pack_is_found_in_paths_of_both_kinds() {
        let signs = Signs::of(&Packs::built_in());
        assert_eq!(signs.node_dir("/opt/ComfyUI/custom_nodes/A/b/c.py"), Some("A"));
        assert_eq!(signs.node_dir("C:\\x\\custom_nodes\\was-ns\\a.py"), Some("was-ns"));
        assert_eq!(signs.node_dir("/opt/custom_nodes/A/custom_nodes/B/c.py"), Some("B"));
        assert_eq!(signs.node_dir("/opt/ComfyUI/nodes.py"), None);
        assert_eq!(signs.node_dir("/opt/ComfyUI/custom_nodes/"), None);
    }
}
