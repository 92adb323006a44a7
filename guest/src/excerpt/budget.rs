//! One budget for both streams, so that neither starves the other.
//!
//! It does not know what the streams say.

/// How many bytes of text each stream may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shares {
    /// For standard output.
    pub stdout: usize,
    /// For standard error.
    pub stderr: usize,
}

/// Shares `max_bytes` between two streams that need this many bytes to go through whole.
///
/// Standard error gets what it needs up to half, standard output the rest; what one does not
/// need, the other may use.
#[must_use]
pub fn share(max_bytes: usize, stdout_needs: u64, stderr_needs: u64) -> Shares {
    let stdout = usize::try_from(stdout_needs).unwrap_or(usize::MAX);
    let stderr = usize::try_from(stderr_needs).unwrap_or(usize::MAX);
    let for_stderr = stderr.min((max_bytes / 2).max(max_bytes.saturating_sub(stdout)));
    Shares {
        stdout: max_bytes - for_stderr.min(max_bytes),
        stderr: for_stderr,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_stream_starves_the_other() {
        let shares = |out, err| {
            let Shares { stdout, stderr } = share(4096, out, err);
            (stdout, stderr)
        };
        assert_eq!(shares(u64::MAX, u64::MAX), (2048, 2048));
        assert_eq!(shares(u64::MAX, 100), (3996, 100));
        assert_eq!(shares(100, u64::MAX), (4096 - 3996, 3996));
        assert_eq!(shares(0, 0), (4096, 0));
        assert_eq!(shares(3000, 3000), (2048, 2048));
    }
}
