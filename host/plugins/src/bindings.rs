//! The generated host side of `wit/`. Nothing is written by hand here.

#![allow(missing_docs, unreachable_pub, clippy::all, reason = "generated; the documentation is in wit/")]

wasmtime::component::bindgen!({
    path: "../../wit",
    world: "transom:plugin/plugin",
    imports: { default: async | trappable },
    exports: { default: async },
    with: { "transom:plugin/types.tab": crate::state::TabHandle },
});
