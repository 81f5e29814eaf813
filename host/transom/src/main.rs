//! The program `transom`. Everything is in the library beside it, so that tests can use its parts.

use std::process::ExitCode;

fn main() -> ExitCode {
    transom::main()
}
