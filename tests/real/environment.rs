//! The Python environment of the server, and its model.

use std::{
    env, fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::{self, Command, Stdio},
    sync::OnceLock,
};

const PACKAGES: &[&str] = &["xllamacpp==2026.10.11549", "gguf", "numpy"];
/// Tokens that the model was made for. A server may give it fewer.
const MODEL_CONTEXT: &str = "8192";

/// What a server is started with.
pub(crate) struct Environment {
    pub(crate) python: PathBuf,
    pub(crate) script: PathBuf,
    pub(crate) model: PathBuf,
}

/// The environment, made at the first call if that was asked for; `None`, with a word on standard error, if there is
/// none.
pub(crate) fn environment() -> Option<&'static Environment> {
    static ENVIRONMENT: OnceLock<Option<Environment>> = OnceLock::new();
    let prepared = || prepare().map_err(|why| say(&format!("SKIPPED: no real server: {why}"))).ok();
    ENVIRONMENT.get_or_init(prepared).as_ref()
}

/// Past the test harness, which keeps the output of tests that pass to itself.
fn say(line: &str) {
    let _ = writeln!(io::stderr(), "\n!!! {line}\n");
}

fn prepare() -> Result<Environment, String> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("there is no workspace")?;
    let beside = || workspace.parent().map(|folder| folder.join("shared"));
    let shared = env::var_os("BACKSTOP_SHARED").map(PathBuf::from).or_else(beside).unwrap_or_default();
    let scripts = shared.join("real-servers");
    let script = scripts.join("serve.py");
    if !script.is_file() {
        return Err(format!("{} has no server; set BACKSTOP_SHARED", shared.display()));
    }
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("real-server-1");
    if !home.is_dir() {
        if env::var_os("BACKSTOP_REAL_SERVER").is_none_or(|wanted| wanted != "1") {
            return Err(
                "its Python environment is not there; set BACKSTOP_REAL_SERVER=1 to make it".to_owned()
            );
        }
        make(&home, &scripts)?;
    }
    Ok(Environment { python: home.join("bin/python"), script, model: home.join("tiny.gguf") })
}

/// Makes the environment under another name first, so that a broken one is never taken for a whole one.
fn make(home: &Path, scripts: &Path) -> Result<(), String> {
    let unfinished = home.with_extension(format!("unfinished-{}", process::id()));
    let python = unfinished.join("bin/python");
    run(Command::new("python3").arg("-m").arg("venv").arg(&unfinished))?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"];
    run(Command::new(&python).args(pip).args(PACKAGES))?;
    let maker = scripts.join("make_tiny_gguf.py");
    run(Command::new(&python).arg(maker).arg(unfinished.join("tiny.gguf")).arg(MODEL_CONTEXT))?;
    let moved = fs::rename(&unfinished, home);
    // Another run may have been faster, which is as well.
    if moved.is_err() {
        let _ = fs::remove_dir_all(&unfinished);
    }
    if home.is_dir() { Ok(()) } else { Err(format!("cannot make {}", home.display())) }
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr)))
}
