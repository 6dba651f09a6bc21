// SPDX-License-Identifier: Apache-2.0
//
// Finds the library by pkg-config, shared or static.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    println!("cargo:rerun-if-changed=build.rs");
    let output = Command::new("pkg-config")
        .args(["--libs", "rowbloom-c"])
        .output()
        .expect("rowbloom-sys needs pkg-config to find rowbloom-c.pc");
    if !output.status.success() {
        panic!("{}", String::from_utf8_lossy(&output.stderr));
    }
    for flag in String::from_utf8_lossy(&output.stdout).split_whitespace() {
        if let Some(directory) = flag.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={}", directory);
        } else if let Some(library) = flag.strip_prefix("-l") {
            println!("cargo:rustc-link-lib={}", library);
        }
    }
}
