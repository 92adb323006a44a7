//! Makes a component that misbehaves: the built-in one, with the code of some functions replaced.
//!
//! The new code takes the room of the old, so that nothing else moves.

/// What a function does instead of its work.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, reason = "not every crate of tests needs each")]
pub(crate) enum Deed {
    /// It gives up at once, as a panic does.
    Panic,
    /// It never ends.
    Loop,
    /// It takes memory without end.
    Hog,
    /// It hands out a text of 20 MiB.
    Flood,
}

impl Deed {
    /// Returns the body, without local variables and without its end.
    fn code(self) -> Vec<u8> {
        // unreachable; loop; br 0; end; i32.const; memory.grow; drop; i32.shl; i32.store.
        match self {
            Self::Panic => vec![0x00],
            Self::Loop => vec![0x03, 0x40, 0x0c, 0x00, 0x0b, 0x00],
            Self::Hog => {
                let mut code = vec![0x03, 0x40];
                code.extend(constant(256));
                code.extend([0x40, 0x00, 0x1a, 0x0c, 0x00, 0x0b, 0x00]);
                code
            }
            // At address 16, below the stack, lie the pointer and the length that are given back.
            Self::Flood => {
                let mut code = constant(16);
                code.extend(constant(320));
                code.extend([0x40, 0x00]);
                code.extend(constant(16));
                code.extend([0x74, 0x36, 0x02, 0x00]);
                code.extend(constant(20));
                code.extend(constant(320 << 16));
                code.extend([0x36, 0x02, 0x00]);
                code.extend(constant(16));
                code
            }
        }
    }
}

/// Returns the component with the named functions (`interface#function`, as its module exports
/// them without package and version) doing something else.
pub(crate) fn patched(component: &[u8], deeds: &[(&str, Deed)]) -> Vec<u8> {
    let mut bytes = component.to_vec();
    let module = sections(&bytes, 8)
        .into_iter()
        .filter(|section| section.id == 1)
        .map(|section| sections(&bytes, section.start + 8))
        .find(|module| !exports(&bytes, module).is_empty())
        .expect("a module that exports the contract");
    let imported = imported_functions(&bytes, &module);
    let exports = exports(&bytes, &module);
    let bodies = bodies(&bytes, &module);
    for (name, deed) in deeds {
        let (_, index) = exports
            .iter()
            .find(|(exported, _)| exported == name)
            .unwrap_or_else(|| panic!("`{name}` in {exports:?}"));
        let (start, end) = bodies[index - imported];
        let mut code = vec![0];
        code.extend(deed.code());
        let room = end - start - 1;
        assert!(code.len() <= room, "`{name}` has no room for {deed:?}");
        code.resize(room, 0x01);
        code.push(0x0b);
        bytes[start..end].copy_from_slice(&code);
    }
    bytes
}

struct Section {
    id: u8,
    start: usize,
}

/// Returns the sections of a module or component whose first section begins at `at`.
fn sections(bytes: &[u8], mut at: usize) -> Vec<Section> {
    let mut found = Vec::new();
    while at < bytes.len() && bytes[at] <= 13 {
        let id = bytes[at];
        at += 1;
        let size = number(bytes, &mut at);
        if at + size > bytes.len() {
            break;
        }
        found.push(Section { id, start: at });
        at += size;
    }
    found
}

fn start(module: &[Section], id: u8) -> usize {
    let section = module.iter().find(|section| section.id == id);
    section.expect("a section").start
}

fn imported_functions(bytes: &[u8], module: &[Section]) -> usize {
    let mut at = start(module, 2);
    let mut functions = 0;
    for _ in 0..number(bytes, &mut at) {
        name(bytes, &mut at);
        name(bytes, &mut at);
        let kind = bytes[at];
        at += 1;
        assert_eq!(
            kind, 0,
            "the guest imports nothing but what the canonical ABI needs"
        );
        number(bytes, &mut at);
        functions += 1;
    }
    functions
}

/// Returns the functions of the contract, by name, with their indexes.
fn exports(bytes: &[u8], module: &[Section]) -> Vec<(String, usize)> {
    if !module.iter().any(|section| section.id == 7) {
        return Vec::new();
    }
    let mut at = start(module, 7);
    let mut found = Vec::new();
    for _ in 0..number(bytes, &mut at) {
        let exported = name(bytes, &mut at);
        let kind = bytes[at];
        at += 1;
        let index = number(bytes, &mut at);
        let plain = exported.strip_prefix("feedback:policy/");
        if let (0, Some((interface, function))) =
            (kind, plain.and_then(|name| name.split_once("@0.1.0#")))
        {
            found.push((format!("{interface}#{function}"), index));
        }
    }
    found
}

/// Returns where the bodies of the functions begin and end.
fn bodies(bytes: &[u8], module: &[Section]) -> Vec<(usize, usize)> {
    let mut at = start(module, 10);
    (0..number(bytes, &mut at))
        .map(|_| {
            let size = number(bytes, &mut at);
            at += size;
            (at - size, at)
        })
        .collect()
}

fn name(bytes: &[u8], at: &mut usize) -> String {
    let length = number(bytes, at);
    *at += length;
    String::from_utf8(bytes[*at - length..*at].to_vec()).expect("a name")
}

/// Reads an unsigned LEB128.
fn number(bytes: &[u8], at: &mut usize) -> usize {
    let (mut value, mut shift) = (0, 0);
    loop {
        let byte = bytes[*at];
        *at += 1;
        value |= usize::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            return value;
        }
    }
}

/// Returns `i32.const` with a positive number, as signed LEB128.
fn constant(mut number: u32) -> Vec<u8> {
    let mut code = vec![0x41];
    loop {
        let low = u8::try_from(number & 0x7f).expect("seven bits");
        number >>= 7;
        if number == 0 && low & 0x40 == 0 {
            code.push(low);
            return code;
        }
        code.push(low | 0x80);
    }
}
