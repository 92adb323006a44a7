//! The same source gives the same bytes, whatever the folder.

#[path = "../../host/build/guest.rs"]
mod guest;

use std::path::Path;
use std::{env, fs};

use feedback_host::component::Origin;

use crate::built_in;

/// Copies what the build needs.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let name = entry.file_name();
        if name == "target" || name == ".git" {
            continue;
        }
        let to = to.join(&name);
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), &to).expect("copied");
        }
    }
}

#[test]
fn a_build_in_another_folder_gives_the_same_bytes() {
    if !guest::target_is_installed().expect("rustc") {
        assert!(env::var_os("CI").is_none(), "CI needs `{}`", guest::TARGET);
        eprintln!("`{}` is not installed: not tested here", guest::TARGET);
        return;
    }
    let own = built_in();
    if own.origin() == Origin::Shipped {
        // `shipped` compares these with a build from source.
        return;
    }
    let elsewhere = tempfile::tempdir().expect("a folder");
    let root = elsewhere.path().join("another place");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &root);
    let built = guest::build(&root, &elsewhere.path().join("out")).expect("it builds");
    assert!(
        built == own.bytes(),
        "{} and {} bytes",
        built.len(),
        own.bytes().len()
    );
    assert!(guest::toolchain().is_ok());
}
