//! Takes out of a component what says nothing to an engine.
//!
//! It does not look into the core module: the linker leaves nothing of the kind there.

/// The eight bytes that every component starts with.
const HEADER: usize = 8;

/// A section whose content has a meaning for tools alone.
const CUSTOM: u8 = 0;

/// Returns the component without its custom sections, of which the largest gives every item of
/// it a name. `None` where the bytes are no sections.
pub(crate) fn without_custom(component: &[u8]) -> Option<Vec<u8>> {
    let (header, mut rest) = component.split_at_checked(HEADER)?;
    let mut kept = header.to_vec();
    while let Some((id, after)) = rest.split_first() {
        let (length, content) = number(after)?;
        let start = rest.len() - content.len();
        let (section, behind) = rest.split_at_checked(start.checked_add(length)?)?;
        if *id != CUSTOM {
            kept.extend_from_slice(section);
        }
        rest = behind;
    }
    Some(kept)
}

/// Reads a number in LEB128, of at most 32 bits, and returns it with what stands behind it.
fn number(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut number = 0_usize;
    for (at, byte) in bytes.iter().enumerate().take(5) {
        number |= usize::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Some((number, bytes.get(at + 1..)?));
        }
    }
    None
}
