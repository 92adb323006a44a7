//! Claims about what stays: what compilers, package managers and tools print, digests and names.
//!
//! Bodies that look like those of keys and are none are in `key_tests`.

#![expect(
    clippy::string_slice,
    reason = "test code: the texts are ASCII, and a failure must be loud"
)]

use super::tests::rules;
use super::*;
use crate::record::base64;

/// Bytes without a pattern, other ones for each `seed`.
fn bytes(seed: u64, count: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        u8::try_from(state >> 40 & 0xff).unwrap()
    };
    std::iter::repeat_with(next).take(count).collect()
}

fn hex(seed: u64, count: usize) -> String {
    let digits = bytes(seed, count);
    digits.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn base64_of(seed: u64, count: usize) -> String {
    base64::encode(&bytes(seed, count))
}

/// Says which lines of a text do not stay.
#[track_caller]
fn stays(text: &str) {
    let text = format!("before\n{text}\nafter\n");
    let (redacted, findings) = redact(&rules(), &text);
    let gone: Vec<&str> = text
        .lines()
        .zip(redacted.lines())
        .filter(|(line, left)| line != left)
        .map(|(line, _)| line)
        .collect();
    assert!(
        gone.is_empty(),
        "{:?}\n{}",
        findings.per_rule,
        gone.join("\n")
    );
    assert_eq!(redacted, text);
}

#[test]
fn what_compilers_print_stays() {
    stays(
        "src/password.rs:12:9: error[E0425]: cannot find value `api_key` in this scope
  --> src/auth/token.rs:41:17
   |
41 |     let token = Token::parse(&header.secret)?;
   |                 ^^^^^^^^^^^^ expected `&str`, found `Option<SecretString>`
   = note: expected struct `Password<'_>`, found `String`
   = help: consider importing this struct: `crate::secrets::PasswordHasher`
error: aborting due to 1 previous error; 2 warnings emitted
password.c:33:5: warning: unused variable 'password' [-Wunused-variable]
password.c: In function 'check_password':
/usr/bin/ld: libauth.a(token.o): undefined reference to `secret_key_free'
TS2339: Property 'apiKey' does not exist on type '{ token: string; }'.
./src/password.go:17:2: password declared and not used
  File \"/app/password.py\", line 3, in get_password
    password = os.environ[\"PASSWORD\"]
KeyError: 'PASSWORD'
AttributeError: 'Settings' object has no attribute 'secret_key'
[ERROR] /src/main/java/org/x/PasswordEncoder.java:[17,8] cannot find symbol: class TokenStore
_ZN5tokio7runtime4task3raw7RawTask9remote_abort17h3f786850e387550fE
_RNvMsa_NtCs3ssYzQotkvD_3std4pathNtB5_7PathBuf3newCs15kBYyAo9fc_7mycrate",
    );
}

#[test]
fn sentences_about_secrets_stay() {
    stays(
        "api_key is missing
error: api_key is required
password must be at least 12 characters long
warning: no password given, using the keychain
Token expired at 2026-11-30T15:00:00Z
secret `db-credentials` not found in namespace \"default\"
permission denied (publickey,password).
--- FAIL: TestPasswordReset/token_is_single_use (0.00s)
test auth::password_is_never_logged ... ok
  \u{2713} hides the api key (12 ms)
Enter passphrase for key '/home/build/.ssh/id_ed25519': 
MAX_TOKENS=4096 SECRET_COUNT=3 PASSWORD_MIN_LENGTH=12
token_count: 1024, tokens: 12, password_changed: true",
    );
}

#[test]
fn digests_identifiers_and_integrity_strings_stay() {
    let mut lines = vec![
        format!("commit {}", hex(1, 20)),
        format!("index {}..{} 100644", &hex(2, 20)[..10], &hex(3, 20)[..10]),
        format!("{}  dist/app.tar.gz", hex(4, 32)),
        format!("{} *dist/app.tar.gz", hex(5, 64)),
        format!("SHA256 (app.iso) = {}", hex(6, 32)),
        format!("MD5 (app.iso) = {}", hex(7, 16)),
        format!("sha256:{}", hex(8, 32)),
        format!("Digest: sha256:{}", hex(9, 32)),
        format!("FROM debian@sha256:{}", hex(10, 32)),
        format!("ETag: \"{}\"", hex(11, 16)),
        format!(
            "SHA256:{} user@host (ED25519)",
            base64_of(12, 32).trim_end_matches('=')
        ),
        format!("\"integrity\": \"sha512-{}\",", base64_of(13, 64)),
        format!("  integrity sha512-{}", base64_of(14, 64)),
        format!("    --hash=sha256:{} \\", hex(15, 32)),
        format!("checksum = \"{}\"", hex(16, 32)),
        format!("golang.org/x/sys v0.1.0/go.mod h1:{}", base64_of(17, 32)),
        format!("<script integrity=\"sha384-{}\">", base64_of(18, 48)),
        format!("node_modules/.pnpm/a@1.0.0_{}/node_modules/a", hex(19, 16)),
        format!(
            "/nix/store/{}-openssl-3.0.13",
            "q7wk2m9vrbtz8b3wyh6pzdfsa0cl4ngi"
        ),
        format!("assets/index-{}.js  142.10 kB", "Bq7Xk2M9"),
        format!("target/debug/deps/libpassword-{}.rlib", hex(20, 8)),
        format!("layer {}: Pull complete", &hex(21, 6)),
        format!("Build-Id: {}", hex(22, 20)),
        format!("trace_id={} span_id={}", hex(23, 16), hex(24, 8)),
    ];
    for seed in 0..40 {
        let id = hex(100 + seed, 16);
        let parts = [&id[..8], &id[8..12], &id[12..16], &id[16..20], &id[20..]];
        lines.push(format!("request {} took 3 ms", parts.join("-")));
        lines.push(format!(
            "{{\"id\": \"{}\"}}",
            parts.join("-").to_uppercase()
        ));
        lines.push(format!("sha512-{}", base64_of(200 + seed, 64)));
    }
    stays(&lines.join("\n"));
}

#[test]
fn lockfiles_stay_whole() {
    let mut npm = String::from("{\n  \"lockfileVersion\": 3,\n  \"packages\": {\n");
    let mut yarn = String::new();
    let mut cargo = String::new();
    let mut go = String::new();
    let mut python = String::new();
    for seed in 0..60 {
        let name = ["token", "password", "secret", "key", "auth", "left"]
            [usize::try_from(seed).unwrap() % 6];
        let name = format!("{name}-pad{seed}");
        npm.push_str(&format!(
            "    \"node_modules/{name}\": {{\n      \"version\": \"1.{seed}.0\",\n      \"resolved\": \
             \"https://registry.npmjs.org/{name}/-/{name}-1.{seed}.0.tgz\",\n      \"integrity\": \
             \"sha512-{}\",\n      \"dev\": true\n    }},\n",
            base64_of(seed, 64)
        ));
        yarn.push_str(&format!(
            "{name}@^1.0.0:\n  version \"1.{seed}.0\"\n  resolved \
             \"https://registry.yarnpkg.com/{name}/-/{name}-1.{seed}.0.tgz#{}\"\n  integrity sha512-{}\n\n",
            hex(seed, 20),
            base64_of(seed, 64)
        ));
        cargo.push_str(&format!(
            "[[package]]\nname = \"{name}\"\nversion = \"1.{seed}.0\"\nsource = \
             \"registry+https://github.com/rust-lang/crates.io-index\"\nchecksum = \"{}\"\n\n",
            hex(seed, 32)
        ));
        go.push_str(&format!(
            "github.com/acme/{name} v1.{seed}.0 h1:{}\ngithub.com/acme/{name} v1.{seed}.0/go.mod h1:{}\n",
            base64_of(seed, 32),
            base64_of(seed + 500, 32)
        ));
        python.push_str(&format!(
            "{name}==1.{seed}.0 \\\n    --hash=sha256:{} \\\n    --hash=sha256:{}\n",
            hex(seed, 32),
            hex(seed + 500, 32)
        ));
    }
    for text in [npm, yarn, cargo, go, python] {
        stays(&text);
    }
}

#[test]
fn source_maps_images_and_packs_stay() {
    let mappings =
        "AAAA,SAASA,EAAMC,GACb,OAAOC,KAAKC,MAAMF,EACpB;AAEA,QAAQ,IAAI,CAAC,WAAW".repeat(40);
    stays(&format!(
        "{{\"version\":3,\"sources\":[\"../src/password.ts\"],\"names\":[\"token\",\"apiKey\"],\"mappings\":\"{mappings}\"}}"
    ));
    let map = base64::encode(format!("{{\"version\":3,\"mappings\":\"{mappings}\"}}").as_bytes());
    stays(&format!(
        "//# sourceMappingURL=data:application/json;base64,{map}"
    ));
    for (kind, head) in [
        ("png", b"\x89PNG\r\n\x1a\n".as_slice()),
        ("jpeg", b"\xff\xd8\xff\xe0\0\x10JFIF"),
        ("gif", b"GIF89a"),
        ("svg+xml", b"<svg xmlns="),
        ("woff2", b"wOF2\0\x01"),
    ] {
        let image = base64::encode(&[head, &bytes(7, 2000)].concat());
        stays(&format!(
            "background: url(data:image/{kind};base64,{image});"
        ));
        // As a notebook keeps it, and as mail wraps it.
        stays(&format!("    \"image/{kind}\": \"{image}\\n\","));
        let wrapped: Vec<&str> = (0..image.len())
            .step_by(76)
            .map(|at| &image[at..image.len().min(at + 76)])
            .collect();
        stays(&wrapped.join("\n"));
    }
    // What a pack and its index look like in the output of git, and a binary patch.
    let pack: Vec<String> = (0..80)
        .map(|seed| {
            format!(
                "{} blob   {} {} {}",
                hex(seed, 20),
                4000 + seed,
                900 + seed,
                12 * seed
            )
        })
        .collect();
    stays(&pack.join("\n"));
    let patch: Vec<String> = (0..30)
        .map(|seed| {
            format!(
                "zcmV;{}",
                base64_of(seed, 45).replace('/', "$").replace('+', "{")
            )
        })
        .collect();
    stays(&format!(
        "GIT binary patch\nliteral 1500\n{}\n",
        patch.join("\n")
    ));
}

#[test]
fn certificates_and_public_keys_stay_in_every_usual_place() {
    let certificate = [
        b"\x30\x82\x02\xf9\x30\x82\x01\xe1\xa0\x03\x02\x01\x02\x02\x14".as_slice(),
        &bytes(9, 700),
    ]
    .concat();
    let body = base64::encode(&certificate);
    let lines: Vec<&str> = (0..body.len())
        .step_by(64)
        .map(|at| &body[at..body.len().min(at + 64)])
        .collect();
    let pem = format!(
        "-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----",
        lines.join("\n")
    );
    let indented = pem.replace('\n', "\n    ");
    let ssh = |kind: &str, head: &[u8], count| {
        format!(
            "{kind} {} build@host",
            base64::encode(&[head, &bytes(11, count)].concat())
        )
    };
    for text in [
        format!("{pem}\n{pem}\n{pem}"),
        format!("ca.crt: |\n    {indented}"),
        format!("{{\"ca\": \"{}\"}}", pem.replace('\n', "\\n")),
        format!("caBundle: {}", base64::encode(pem.as_bytes())),
        ssh(
            "ssh-rsa",
            b"\0\0\0\x07ssh-rsa\0\0\0\x03\x01\0\x01\0\0\x01\x81",
            385,
        ),
        ssh("ssh-ed25519", b"\0\0\0\x0bssh-ed25519\0\0\0 ", 32),
        format!(
            "github.com {}",
            ssh("ssh-ed25519", b"\0\0\0\x0bssh-ed25519\0\0\0 ", 32)
        ),
        format!("Server certificate\n{pem}\nsubject=CN = example.org\nVerify return code: 0 (ok)"),
    ] {
        stays(&text);
    }
}
