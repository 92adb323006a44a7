//! Tags that are equal for equal secrets and tell nothing of them without the key.
//!
//! The key comes in, the tag goes out; the secret stays here.

use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::fault::{Fault, FaultCode};
use crate::redact::view::{is_dressed, undressed};

/// The longest key, in bytes.
const KEY_MAX: usize = 4096;
/// How many bytes of the code make a tag. Enough to tell some thousand secrets apart.
const TAG: usize = 8;

/// HMAC-SHA-256 with its key, cut to 64 bits.
#[derive(Clone, Debug)]
pub(super) struct Tagger(Hmac<Sha256>);

impl Tagger {
    pub(super) fn new(key: &[u8]) -> Result<Self, Fault> {
        if key.len() > KEY_MAX {
            return Err(Fault::new(
                FaultCode::LimitExceeded,
                format!("the key is longer than {KEY_MAX} bytes"),
            ));
        }
        Hmac::new_from_slice(key)
            .map(Self)
            .map_err(|_| Fault::new(FaultCode::LimitExceeded, "the key cannot be used"))
    }

    /// Returns the tag of a secret, whatever its colours, as 16 hexadecimal digits.
    pub(super) fn tag(&self, secret: &str) -> String {
        let mut code = self.0.clone();
        if is_dressed(secret) {
            code.update(undressed(secret).text.as_bytes());
        } else {
            code.update(secret.as_bytes());
        }
        let code = code.finalize().into_bytes();
        code.iter()
            .take(TAG)
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }
}
