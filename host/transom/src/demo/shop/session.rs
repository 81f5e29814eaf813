//! Who is signed in: one account, a password made at each start, and sessions named by random cookies.
//!
//! Not here: the login page (`pages.rs`).

use std::{collections::VecDeque, sync::Mutex};

use axum::http::HeaderMap;
use axum_extra::extract::cookie::{Cookie, CookieJar, SameSite};
use subtle::ConstantTimeEq;

use super::ShopError;

/// The one account's address.
pub const EMAIL: &str = "robin@shop.localhost";

/// The name of the session cookie.
const COOKIE: &str = "shop_session";

/// Sessions that are kept; the oldest ends first. A demo has one, a test suite some.
const SESSIONS_MAX: usize = 64;

/// Characters of the password, of 32 kinds: 100 bits.
const PASSWORD_CHARS: usize = 20;

/// Characters of a session's name, of 32 kinds: 160 bits.
const SESSION_CHARS: usize = 32;

/// The account and its sessions.
pub(super) struct Accounts {
    password: String,
    /// Newest last.
    sessions: Mutex<VecDeque<String>>,
}

impl Accounts {
    /// An account with a fresh password.
    pub(super) fn new() -> Result<Accounts, ShopError> {
        Ok(Accounts { password: random_text(PASSWORD_CHARS)?, sessions: Mutex::default() })
    }

    pub(super) fn password(&self) -> &str {
        &self.password
    }

    /// A session's cookie, when email and password are right.
    pub(super) fn sign_in(&self, email: &str, password: &str) -> Result<Option<Cookie<'static>>, ShopError> {
        let is_right = email.trim() == EMAIL && bool::from(password.as_bytes().ct_eq(self.password.as_bytes()));
        if !is_right {
            return Ok(None);
        }
        let session = random_text(SESSION_CHARS)?;
        let mut sessions = self.sessions();
        if sessions.len() == SESSIONS_MAX {
            sessions.pop_front();
        }
        sessions.push_back(session.clone());
        Ok(Some(Cookie::build((COOKIE, session)).path("/").http_only(true).same_site(SameSite::Lax).build()))
    }

    pub(super) fn is_signed_in(&self, headers: &HeaderMap) -> bool {
        let jar = CookieJar::from_headers(headers);
        jar.get(COOKIE).is_some_and(|cookie| self.sessions().iter().any(|session| session == cookie.value()))
    }

    /// Ends the request's session, and gives the cookie that makes the browser forget it.
    pub(super) fn sign_out(&self, headers: &HeaderMap) -> Cookie<'static> {
        let jar = CookieJar::from_headers(headers);
        if let Some(cookie) = jar.get(COOKIE) {
            self.sessions().retain(|session| session != cookie.value());
        }
        let mut gone = Cookie::build((COOKIE, "")).path("/").http_only(true).same_site(SameSite::Lax).build();
        gone.make_removal();
        gone
    }

    fn sessions(&self) -> std::sync::MutexGuard<'_, VecDeque<String>> {
        // The list is whole after every single operation on it, whoever panicked.
        self.sessions.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Letters and digits that nobody confuses: every one stands for five random bits.
const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

fn random_text(chars: usize) -> Result<String, ShopError> {
    let mut bytes = vec![0u8; chars];
    getrandom::fill(&mut bytes).map_err(|error| ShopError::Random(error.to_string()))?;
    Ok(bytes.iter().filter_map(|byte| ALPHABET.get(usize::from(byte % 32))).map(|byte| char::from(*byte)).collect())
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderValue, header};

    use super::*;

    fn request_with(cookie: &Cookie<'_>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let pair = format!("{}={}", cookie.name(), cookie.value());
        headers.insert(header::COOKIE, HeaderValue::from_str(&pair).unwrap());
        headers
    }

    #[test]
    fn the_password_is_fresh_and_long_at_each_start() {
        let (one, two) = (Accounts::new().unwrap(), Accounts::new().unwrap());
        assert_eq!(one.password().len(), PASSWORD_CHARS);
        assert_ne!(one.password(), two.password());
    }

    #[test]
    fn only_the_right_email_and_password_make_a_session_and_signing_out_ends_it() {
        let accounts = Accounts::new().unwrap();
        let password = accounts.password().to_owned();
        assert!(accounts.sign_in(EMAIL, "wrong").unwrap().is_none());
        assert!(accounts.sign_in("eve@shop.localhost", &password).unwrap().is_none());
        assert!(!accounts.is_signed_in(&HeaderMap::new()));

        let cookie = accounts.sign_in(EMAIL, &password).unwrap().unwrap();
        assert_eq!((cookie.http_only(), cookie.same_site()), (Some(true), Some(SameSite::Lax)));
        assert!(accounts.is_signed_in(&request_with(&cookie)));
        accounts.sign_out(&request_with(&cookie));
        assert!(!accounts.is_signed_in(&request_with(&cookie)));
    }

    #[test]
    fn the_oldest_session_ends_when_there_are_too_many() {
        let accounts = Accounts::new().unwrap();
        let password = accounts.password().to_owned();
        let first = accounts.sign_in(EMAIL, &password).unwrap().unwrap();
        for _ in 0..SESSIONS_MAX {
            assert!(accounts.sign_in(EMAIL, &password).unwrap().is_some());
        }
        assert!(!accounts.is_signed_in(&request_with(&first)));
    }
}
