//! Secrets in JSON: strings, object keys, and numbers whose digits spell one.
//!
//! A number that spells a secret becomes a string. Keys that become alike are told apart by a number behind them, so that no
//! member is lost.
//!
//! Not here: the text of the JSON, which is only written later; a caller that sends a text redacts that text.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Redacted, Redactor};

impl Redactor {
    /// The value without secrets, in strings, keys and numbers.
    #[must_use]
    pub fn value(&self, value: &Value) -> Redacted<Value> {
        self.owned_value(value.clone())
    }

    /// The same for a value that is given away: what holds no secret is not copied.
    #[must_use]
    pub fn owned_value(&self, mut value: Value) -> Redacted<Value> {
        if self.0.is_some() {
            self.clean(&mut value);
        }
        Redacted::vouch(value)
    }

    /// Turns anything into JSON without secrets.
    ///
    /// # Errors
    /// Those of [`serde_json::to_value`]: the value serialises to something that JSON can't hold.
    pub fn serialize<T: Serialize + ?Sized>(&self, value: &T) -> Result<Redacted<Value>, serde_json::Error> {
        Ok(self.owned_value(serde_json::to_value(value)?))
    }

    fn clean(&self, value: &mut Value) {
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => {
                if let Some(text) = self.redact(&number.to_string()) {
                    *value = Value::String(text);
                }
            }
            Value::String(text) => {
                if let Some(clean) = self.redact(text) {
                    *text = clean;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.clean(item)),
            Value::Object(members) => {
                members.values_mut().for_each(|member| self.clean(member));
                if members.keys().any(|key| self.mentions(key)) {
                    *members = self.clean_keys(std::mem::take(members));
                }
            }
        }
    }

    fn clean_keys(&self, members: Map<String, Value>) -> Map<String, Value> {
        let mut clean = Map::with_capacity(members.len());
        for (key, member) in members {
            let key = self.owned(key).into_inner();
            let key = if clean.contains_key(&key) { self.unlike(&key, &clean) } else { key };
            clean.insert(key, member);
        }
        clean
    }

    /// A key that is not taken: this one with the next free number behind it.
    fn unlike(&self, key: &str, taken: &Map<String, Value>) -> String {
        let numbers = 2..taken.len() + 3;
        numbers
            .map(|number| {
                let numbered = format!("{key} ({number})");
                if self.mentions(&numbered) { format!("({number})") } else { numbered }
            })
            .find(|candidate| !taken.contains_key(candidate))
            .unwrap_or_else(|| format!("({})", taken.len()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::redact::Secret;

    fn redactor() -> Redactor {
        let secrets = [("password", "hunter2-Quartz!"), ("pin", "20240611")];
        Redactor::new(secrets.map(|(name, value)| Secret::new(name, value).unwrap())).unwrap()
    }

    #[test]
    fn strings_keys_and_numbers_are_cleaned_at_every_depth_and_the_rest_stays() {
        let value = json!({"a": ["hunter2-Quartz!", {"x-hunter2-Quartz!": 1}], "n": 20_240_611, "f": 120_240_611.5, "ok": [2024, null, true]});
        let wanted = json!({"a": ["[secret:password]", {"x-[secret:password]": 1}], "n": "[secret:pin]", "f": "1[secret:pin].5", "ok": [2024, null, true]});
        assert_eq!(redactor().value(&value).get(), &wanted);
    }

    #[test]
    fn keys_that_become_alike_lose_no_member() {
        let value = json!({"[secret:password]": 0, "hunter2-Quartz!": 1, "HUNTER2-QUARTZ!": 2, "[secret:password] (2)": 3, "z": 4});
        let clean = redactor().owned_value(value).into_inner();
        let mut members: Vec<_> = clean.as_object().unwrap().values().cloned().collect();
        members.sort_by_key(Value::as_i64);
        assert_eq!(members, [0, 1, 2, 3, 4].map(Value::from));
        assert_eq!(clean["[secret:password]"], 0);
        assert_eq!(clean["z"], 4);
        assert!(!redactor().mentions(&clean.to_string()));
    }

    #[test]
    fn anything_that_serialises_goes_through_the_same_gate() {
        #[derive(Serialize)]
        struct Page<'t> {
            title: &'t str,
        }
        let page = redactor().serialize(&Page { title: "hunter2-Quartz!" }).unwrap();
        assert_eq!(page.into_inner(), json!({"title": "[secret:password]"}));
    }
}
