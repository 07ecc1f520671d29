//! Who may read: users with bcrypt hashes, as Prometheus exporters have them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

/// Credentials remembered at most. bcrypt is slow on purpose, and a scraper comes every few seconds.
const REMEMBERED_MAX: usize = 100;
/// Of nobody: checking an unknown user takes as long as checking a known one.
const NOBODY: &str = "$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy";

/// Users and the credentials that were right.
#[derive(Debug)]
pub struct Access {
    users: HashMap<String, String>,
    right: Mutex<HashSet<String>>,
}

impl Access {
    /// Fails when a hash is none.
    pub fn new(users: HashMap<String, String>) -> Result<Self, String> {
        for (user, hash) in &users {
            let sound = hash.parse::<bcrypt::HashParts>();
            sound.map_err(|e| format!("basic_auth_users: {user}: not a bcrypt hash: {e}"))?;
        }
        Ok(Self { users, right: Mutex::default() })
    }

    /// Whether nobody needs a password.
    pub fn is_open(&self) -> bool {
        self.users.is_empty()
    }

    /// Whether these credentials were right before: the fast way.
    pub fn remembers(&self, authorization: &str) -> bool {
        self.right.lock().unwrap_or_else(PoisonError::into_inner).contains(authorization)
    }

    /// Checks an `Authorization` header. Takes some 50 ms.
    pub fn check(&self, authorization: &str) -> bool {
        let Some((user, password)) = credentials(authorization) else { return false };
        let hash = self.users.get(&user);
        let verified = bcrypt::verify(password, hash.map_or(NOBODY, String::as_str)).unwrap_or(false);
        let right = verified && hash.is_some();
        if right {
            let mut remembered = self.right.lock().unwrap_or_else(PoisonError::into_inner);
            if remembered.len() >= REMEMBERED_MAX {
                remembered.clear();
            }
            remembered.insert(authorization.to_owned());
        }
        right
    }
}

fn credentials(authorization: &str) -> Option<(String, String)> {
    let (scheme, encoded) = authorization.split_once(' ')?;
    let decoded = STANDARD.decode(encoded.trim()).ok().filter(|_| scheme.eq_ignore_ascii_case("basic"))?;
    let text = String::from_utf8(decoded).ok()?;
    let (user, password) = text.split_once(':')?;
    Some((user.to_owned(), password.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(text: &str) -> String {
        format!("Basic {}", STANDARD.encode(text))
    }

    #[test]
    fn only_the_right_password_of_a_known_user_is_let_in() {
        let hash = bcrypt::hash("tide", 4).unwrap();
        let access = Access::new(HashMap::from([("dba".to_owned(), hash)])).unwrap();
        let right = header("dba:tide");
        assert!(!access.remembers(&right) && access.check(&right) && access.remembers(&right));
        for wrong in
            [header("dba:ebb"), header("root:tide"), header("dba"), "Basic !!".to_owned(), String::new()]
        {
            assert!(!access.check(&wrong) && !access.remembers(&wrong), "{wrong}");
        }
        assert!(Access::new(HashMap::from([("dba".to_owned(), "tide".to_owned())])).is_err());
    }
}
