//! The returns form: takes one file and a few words, and says exactly what arrived.
//!
//! Nothing is kept: the file is hashed as it comes in and forgotten.

use axum::{extract::Multipart, http::StatusCode, response::Response};
use sha2::{Digest, Sha256};

use super::pages::{self, Notice, Received};

/// The largest file that the form takes, in bytes. A receipt is a page or two.
pub(super) const FILE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// The longest text that is repeated on the page, in characters.
const TEXT_CHARS_MAX: usize = 500;

pub(super) async fn receive(mut form: Multipart) -> Response {
    match read(&mut form).await {
        Ok(received) => pages::show(StatusCode::OK, received),
        Err(problem) => pages::show(problem.status, Notice { heading: "That did not work", text: &problem.text }),
    }
}

struct Problem {
    status: StatusCode,
    text: String,
}

async fn read(form: &mut Multipart) -> Result<Received, Problem> {
    let mut received = Received::default();
    while let Some(mut field) = form.next_field().await.map_err(problem)? {
        match field.name() {
            Some("receipt") => {
                received.name = field.file_name().unwrap_or_default().to_owned();
                let mut hash = Sha256::new();
                while let Some(chunk) = field.chunk().await.map_err(problem)? {
                    received.size += chunk.len();
                    hash.update(&chunk);
                }
                received.sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
            }
            Some("reason") => {
                received.reason = field.text().await.map_err(problem)?.chars().take(TEXT_CHARS_MAX).collect();
            }
            _ => {}
        }
    }
    if received.name.is_empty() {
        let text = "No file arrived: choose a receipt first.".to_owned();
        return Err(Problem { status: StatusCode::UNPROCESSABLE_ENTITY, text });
    }
    Ok(received)
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to `map_err`")]
fn problem(error: axum::extract::multipart::MultipartError) -> Problem {
    Problem { status: error.status(), text: format!("The form could not be read: {}.", error.body_text()) }
}
