//! The tables of `tests/data/corpora` and the properties that hold for every input, one file for each subject.
//!
//! Not here: single cases and messages, which stand beside the code.
#![cfg(test)]

mod address;
mod corpora;
mod filename;
mod grant;
mod hosts;
mod redact;
