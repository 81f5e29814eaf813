//! The program `transom`, built as part of the tests.

use std::process::ExitCode;

fn main() -> ExitCode {
    transom::main()
}
