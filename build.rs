//! Lists the notes of the example vault, so that they are compiled into the program.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=examples/vault");
    let root = fs::canonicalize("examples/vault")?;
    let mut files = Vec::new();
    collect(&root, &root, &mut files)?;
    files.sort();
    let mut table = String::from(
        "/// The example vault: path and bytes of each note, by path.\nconst EXAMPLE_VAULT: &[(&str, &[u8])] = &[\n",
    );
    for file in &files {
        // The folder is asked for when the table is compiled: a build folder may serve several
        // checkouts.
        let below = format!("/examples/vault/{file}");
        let _ = writeln!(
            table,
            "    ({file:?}, include_bytes!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {below:?}))),"
        );
    }
    table.push_str("];\n");
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&out).join("example_vault.rs"), table)
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(root, &path, files)?;
        } else if let Ok(relative) = path.strip_prefix(root) {
            files.push(relative.to_string_lossy().replace('\\', "/"));
        }
    }
    Ok(())
}
