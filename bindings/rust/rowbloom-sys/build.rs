// SPDX-License-Identifier: Apache-2.0
//
// Finds the installed library by pkg-config, shared or static, or builds the
// sources that the crate carries, in core/, by CMake.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn pkg_config(arguments: &[&str], directory: Option<&Path>) -> Output {
    let mut command = Command::new("pkg-config");
    if let Some(directory) = directory {
        let old = env::var_os("PKG_CONFIG_PATH").unwrap_or_default();
        let all = std::iter::once(directory.to_owned()).chain(env::split_paths(&old));
        command.env("PKG_CONFIG_PATH", env::join_paths(all).unwrap());
    }
    command
        .args(arguments)
        .output()
        .expect("rowbloom-sys needs pkg-config")
}

fn run(command: &mut Command) {
    let status = command
        .status()
        .unwrap_or_else(|error| panic!("rowbloom-sys needs CMake: {}", error));
    assert!(status.success(), "{:?} failed", command);
}

/// Returns the directory of the library's pkg-config file.
fn build() -> PathBuf {
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    let build = out.join("build");
    let sources = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("core");
    println!("cargo:rerun-if-changed={}", sources.display());
    run(Command::new("cmake")
        .arg("-S")
        .arg(&sources)
        .arg("-B")
        .arg(&build)
        .arg(format!("-DCMAKE_INSTALL_PREFIX={}", out.display()))
        .args([
            "-DCMAKE_INSTALL_LIBDIR=lib",
            "-DCMAKE_BUILD_TYPE=Release",
            "-DCMAKE_UNITY_BUILD=ON",
            "-DCMAKE_POSITION_INDEPENDENT_CODE=ON",
            "-DBUILD_SHARED_LIBS=OFF",
        ]));
    let jobs = env::var("NUM_JOBS").unwrap_or_else(|_| "1".to_string());
    run(Command::new("cmake").arg("--build").arg(&build).args([
        "--target",
        "install",
        "--parallel",
        &jobs,
    ]));
    out.join("lib/pkgconfig")
}

fn main() {
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=DOCS_RS");
    if env::var_os("DOCS_RS").is_some() {
        return; // docs.rs links nothing, and has no Abseil.
    }
    let installed = concat!("rowbloom-c >= ", env!("CARGO_PKG_VERSION"));
    let mut found = pkg_config(&["--libs", installed], None);
    let is_built = env::var_os("CARGO_FEATURE_BUNDLED").is_some() || !found.status.success();
    if is_built {
        let directory = build();
        found = pkg_config(&["--static", "--libs", "rowbloom-c"], Some(&directory));
        assert!(
            found.status.success(),
            "{}",
            String::from_utf8_lossy(&found.stderr)
        );
    }
    for flag in String::from_utf8_lossy(&found.stdout).split_whitespace() {
        if let Some(directory) = flag.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={}", directory);
        } else if let Some(library) = flag.strip_prefix("-l") {
            let is_ours = is_built && library.starts_with("rowbloom");
            let kind = if is_ours { "static=" } else { "" };
            println!("cargo:rustc-link-lib={}{}", kind, library);
        }
    }
}
