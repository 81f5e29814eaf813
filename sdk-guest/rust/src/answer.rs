//! What a tool answers: a text, and what may go with it.

use serde::Serialize;
use serde_json::Value;

use crate::{File, bindings::exports::transom::plugin::tools::ToolResult, error::Result};

/// A tool's result. Start from [`Answer::text`] and add what there is.
#[derive(Clone, Debug)]
pub struct Answer(pub(crate) ToolResult);

impl Answer {
    /// The text that the model reads.
    pub fn text(content: impl Into<String>) -> Answer {
        Answer(ToolResult {
            content: content.into(),
            memory: None,
            structured: None,
            is_done: false,
            success: true,
            attachments: Vec::new(),
            images: Vec::new(),
            metadata: None,
        })
    }

    /// One line worth remembering after the text is gone.
    #[must_use]
    pub fn memory(mut self, line: impl Into<String>) -> Answer {
        self.0.memory = Some(line.into());
        self
    }

    /// The same as data.
    ///
    /// # Errors
    /// When the value is no JSON object, or can't be written as JSON.
    pub fn structured(mut self, data: &impl Serialize) -> Result<Answer> {
        self.0.structured = Some(object("structured data", data)?);
        Ok(self)
    }

    /// Data for programs, never for the model.
    ///
    /// # Errors
    /// When the value is no JSON object, or can't be written as JSON.
    pub fn metadata(mut self, data: &impl Serialize) -> Result<Answer> {
        self.0.metadata = Some(object("metadata", data)?);
        Ok(self)
    }

    /// A run file that belongs to the answer.
    #[must_use]
    pub fn attach(mut self, file: &File) -> Answer {
        self.0.attachments.push(file.id.clone());
        self
    }

    /// A run file that the model should see as a picture.
    #[must_use]
    pub fn image(mut self, file: &File) -> Answer {
        self.0.images.push(file.id.clone());
        self
    }

    /// The task is finished, well or not.
    #[must_use]
    pub fn done(mut self, success: bool) -> Answer {
        self.0.is_done = true;
        self.0.success = success;
        self
    }
}

impl From<String> for Answer {
    fn from(content: String) -> Answer {
        Answer::text(content)
    }
}

impl From<&str> for Answer {
    fn from(content: &str) -> Answer {
        Answer::text(content)
    }
}

fn object(what: &str, data: &impl Serialize) -> Result<String> {
    match serde_json::to_value(data)? {
        value @ Value::Object(_) => Ok(value.to_string()),
        _ => Err(crate::Error::new(format!("a tool's {what} has to be a JSON object; wrap it in a struct"))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn data_has_to_be_an_object() {
        let answer = Answer::text("a").structured(&json!({"n": 1})).unwrap();
        assert_eq!(answer.0.structured.as_deref(), Some("{\"n\":1}"));
        assert!(Answer::text("a").structured(&[1, 2]).is_err());
        assert!(Answer::text("a").metadata(&"text").is_err());
    }
}
