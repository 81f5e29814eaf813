//! The launcher for this crate's tests: `jail-launcher …`, as the host's own binary has it, and nothing else.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    match args.next() {
        Some(name) if name == "jail-launcher" => transom_egress::launcher_main(args),
        _ => ExitCode::FAILURE,
    }
}
