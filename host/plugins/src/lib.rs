//! Plugins: WebAssembly components with a manifest.

pub mod manifest;
