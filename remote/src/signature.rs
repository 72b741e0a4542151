//! Signatures of manifests, in the format of minisign.

use std::io::{Cursor, Write as _};
use std::path::Path;

use aurora_confined::read_regular_to_string;
use minisign::{KeyPair, PError, PublicKey, SecretKey, SecretKeyBox, SignatureBox};
use serde::Serialize;
use tempfile::NamedTempFile;

use crate::error::RemoteError;

/// Maximum size of a key file in bytes.
const MAX_KEY_BYTES: u64 = 4096;

/// The secret key with which manifests are signed.
pub struct SigningKey {
    secret: SecretKey,
    public: PublicKey,
}

/// The public keys whose signatures a user accepts.
#[derive(Debug, Clone, Default)]
pub struct TrustedKeys {
    keys: Vec<PublicKey>,
}

/// The signature of a manifest, as far as it could be checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "state", content = "key")]
pub enum Signature {
    /// The signature of a trusted key, with the id of the key.
    Trusted(String),
    /// The manifest has no signature.
    Unsigned,
    /// No trusted key is configured, or the signature is of another key, with this id.
    UnknownKey(String),
    /// The signature does not match the manifest.
    Invalid,
}

impl SigningKey {
    /// Reads a secret key from a file of [`Self::create`] or `minisign -G`. `password` decrypts an encrypted key. The
    /// files of `minisign -G -W` lack a checksum, and are refused.
    ///
    /// # Errors
    /// Fails if the file cannot be read, is not a secret key, or is encrypted with another password.
    pub fn read(path: &Path, password: Option<String>) -> Result<Self, RemoteError> {
        let text = read_regular_to_string(path, MAX_KEY_BYTES);
        let text = text.map_err(|source| RemoteError::Io { path: path.to_owned(), source })?;
        let failed = |what: &str| RemoteError::Key(format!("the signing key in {}: {what}", path.display()));
        let parsed = || SecretKeyBox::from_string(&text).map_err(|_| failed("it is not a secret key of minisign"));
        let secret = parsed()?.into_unencrypted_secret_key();
        let secret = match (secret, password) {
            // Without a password, the library would ask for one on the terminal.
            (Err(_), Some(password)) => parsed()?.into_secret_key(Some(password)),
            (secret, _) => secret,
        };
        let secret = secret.map_err(|_| {
            failed(
                "it is encrypted, and the password is missing or wrong, or `minisign -W` has created it without a \
                 checksum; `aur remote keygen` creates keys that need no password",
            )
        })?;
        let public = PublicKey::from_secret_key(&secret).map_err(|_| failed("it is not a secret key of minisign"))?;
        Ok(Self { secret, public })
    }

    /// Creates a key in a new file, which only its owner may read. `password` encrypts the file.
    ///
    /// # Errors
    /// Fails if the file exists or cannot be written.
    pub fn create(path: &Path, password: Option<String>) -> Result<Self, RemoteError> {
        let failed = |error: PError| RemoteError::Key(format!("cannot create a key: {error}"));
        let pair = match &password {
            Some(password) => KeyPair::generate_encrypted_keypair(Some(password.clone())),
            None => KeyPair::generate_unencrypted_keypair(),
        };
        let text = pair.and_then(|pair| pair.sk.to_box(None)).map_err(failed)?.into_string();
        let io = |source| RemoteError::Io { path: path.to_owned(), source };
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // Only its owner may read a temporary file. A process that is killed here leaves no half of a key in `path`.
        let mut file = NamedTempFile::new_in(directory).map_err(io)?;
        file.write_all(text.as_bytes()).and_then(|()| file.as_file().sync_all()).map_err(io)?;
        let key = Self::read(file.path(), password)?;
        file.persist_noclobber(path).map_err(|error| io(error.error))?;
        Ok(key)
    }

    /// Returns the id of the key.
    pub fn id(&self) -> String {
        key_id(self.public.keynum())
    }

    /// Returns the public key, as it is written in configurations.
    pub fn public_key(&self) -> String {
        self.public.to_base64()
    }

    /// Returns the public key as the only trusted one.
    pub(crate) fn trusted(&self) -> TrustedKeys {
        TrustedKeys { keys: vec![self.public.clone()] }
    }

    /// Signs the text of a manifest.
    pub(crate) fn sign(&self, text: &str, sequence: u64) -> Result<String, RemoteError> {
        let comment = format!("manifest {sequence} of an aurora remote");
        let signed = minisign::sign(Some(&self.public), &self.secret, text.as_bytes(), Some(&comment), None);
        signed.map(SignatureBox::into_string).map_err(|error| RemoteError::Key(format!("cannot sign: {error}")))
    }
}

impl TrustedKeys {
    /// Parses public keys in the format of [`SigningKey::public_key`], which is the last line of a file of `minisign
    /// -G`.
    ///
    /// # Errors
    /// Names the first key that is invalid.
    pub fn parse<'k>(keys: impl IntoIterator<Item = &'k str>) -> Result<Self, RemoteError> {
        let parse = |key: &str| {
            PublicKey::from_base64(key.trim())
                .map_err(|_| RemoteError::Key(format!("`{}` is not a public key of minisign", key.escape_debug())))
        };
        Ok(Self { keys: keys.into_iter().map(parse).collect::<Result<_, _>>()? })
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Checks the signature of a text.
    pub(crate) fn check(&self, text: &str, signature: Option<&str>) -> Signature {
        let Some(signature) = signature else { return Signature::Unsigned };
        let Ok(signature) = SignatureBox::from_string(signature) else { return Signature::Invalid };
        let id = key_id(signature.keynum());
        let Some(key) = self.keys.iter().find(|key| key.keynum() == signature.keynum()) else {
            return Signature::UnknownKey(id);
        };
        match minisign::verify(key, &signature, Cursor::new(text.as_bytes()), true, false, false) {
            Ok(()) => Signature::Trusted(id),
            Err(_) => Signature::Invalid,
        }
    }
}

/// Formats the id of a key as minisign does.
fn key_id(keynum: &[u8]) -> String {
    keynum.iter().rev().map(|byte| format!("{byte:02X}")).collect()
}
