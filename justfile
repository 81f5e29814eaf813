# Every command that a person runs. `./dev RECIPE` works without having `just` installed.

set shell := ["bash", "-euo", "pipefail", "-c"]

export PATH := justfile_directory() / "target/tools/bin:" + env("PATH")
python := justfile_directory() / "target/clients/bin/python"

# List the recipes.
default:
    @just --list --unsorted

# Show the shop, the plugin, a download, an upload that waits, a refusal and the journal.
demo *ARGS: setup
    cargo build --quiet -p transom
    target/debug/transom demo {{ ARGS }}

# Install what is missing, build the guests, and run every check and test.
test: setup fmt-check clippy build clients
    cargo test --workspace --no-fail-fast
    @just docs-check

# Install what is missing on this machine: Chromium, bubblewrap, a wasm target; then build the guests.
setup: (_packages) (_wasm) guests

# Build everything.
build:
    cargo build --workspace

# Build the guest components: plugins and canaries.
guests:
    cargo run --quiet -p transom-guest-build

# The same formatting everywhere.
fmt:
    cargo fmt --all
    cd sdk-guest/rust && cargo fmt
    for folder in plugins/*/ tests/canaries/*/; do if [ -f "$folder/Cargo.toml" ]; then (cd "$folder" && cargo fmt); fi; done

# Fail where formatting differs.
fmt-check:
    cargo fmt --all --check

# Lints, as errors.
clippy:
    cargo clippy --workspace --all-targets -- -D warnings

# Write the generated pages anew.
docs:
    mkdir -p docs/reference
    UPDATE_EXPECT=1 cargo test --quiet -p transom-verbs reference

# Fail where a generated page differs from its source.
docs-check:
    cargo test --quiet -p transom-verbs reference
    git diff --exit-code -- docs/reference

# Run the host with a configuration (see `transom config init`).
serve *ARGS:
    cargo run --quiet -p transom -- serve {{ ARGS }}

# MCP over stdio beside the raw floor, in one run. Needs a quiet machine; uses the release profile.
bench:
    cargo build --release -p transom
    cargo bench -p transom-tests --bench floor

# What a plugin call costs.
bench-plugins:
    cargo bench -p transom-plugins

# The MCP clients that the tests use, from PyPI, in target/clients.
clients:
    #!/usr/bin/env bash
    set -euo pipefail
    if [ ! -x "{{ python }}" ] || ! "{{ python }}" -m pip show --quiet mcp 2>/dev/null; then
        echo "setup: installing the Python MCP client into target/clients"
        python3 -m venv target/clients
        target/clients/bin/pip install --quiet --disable-pip-version-check -r tests/clients/requirements.txt
    fi

_packages:
    #!/usr/bin/env bash
    set -euo pipefail
    missing=()
    [ -x /usr/lib/chromium/chromium ] || command -v chromium >/dev/null || command -v google-chrome >/dev/null || missing+=(chromium fonts-liberation)
    command -v bwrap >/dev/null || missing+=(bubblewrap)
    if [ "${#missing[@]}" -gt 0 ]; then
        echo "setup: installing ${missing[*]}"
        just _apt "${missing[@]}"
    fi

# A standard library for wasm: rustup's where it can be had, else Debian's compiler with matching sources.
_wasm:
    #!/usr/bin/env bash
    set -euo pipefail
    if ls "$(rustc --print sysroot)"/lib/rustlib/wasm32-unknown-unknown/lib/libstd-*.rlib >/dev/null 2>&1; then exit 0; fi
    if [ -d /usr/lib/rustlib/src ] || dpkg -s rust-web-src >/dev/null 2>&1; then exit 0; fi
    if command -v rustup >/dev/null && timeout 60 rustup target add wasm32-unknown-unknown >/dev/null 2>&1; then
        echo "setup: added the target wasm32-unknown-unknown"
        exit 0
    fi
    echo "setup: rustup has no wasm target to give; installing Debian's rustc-web with its sources"
    just _apt rustc-web cargo-web rust-web-src lld-22

_apt +PACKAGES:
    #!/usr/bin/env bash
    set -euo pipefail
    if ! command -v apt-get >/dev/null; then
        echo "setup: please install {{ PACKAGES }} with this system's package manager, then try again" >&2
        exit 1
    fi
    as_root=(); [ "$(id -u)" = 0 ] || as_root=(sudo)
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends {{ PACKAGES }} >/dev/null
