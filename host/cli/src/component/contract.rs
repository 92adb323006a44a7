//! What the contract says of its interfaces and functions: the text of `wit/`, as it was when this
//! program was built.
//!
//! It reads no more of WIT than that: the documentation before an interface or a function.

/// The files that have functions.
const FILES: [&str; 8] = [
    include_str!("../../../../wit/types.wit"),
    include_str!("../../../../wit/about.wit"),
    include_str!("../../../../wit/policies.wit"),
    include_str!("../../../../wit/redaction.wit"),
    include_str!("../../../../wit/captures.wit"),
    include_str!("../../../../wit/records.wit"),
    include_str!("../../../../wit/gate.wit"),
    include_str!("../../../../wit/chains.wit"),
];

/// Everything that is documented.
pub(super) struct Contract(Vec<Interface>);

/// An interface with its functions.
pub(super) struct Interface {
    name: String,
    /// Its documentation.
    pub(super) documentation: String,
    functions: Vec<Function>,
}

/// A function, or a method of a resource.
pub(super) struct Function {
    /// `redact`, or `filter.push` of a resource.
    pub(super) name: String,
    /// Its type, as the contract writes it.
    pub(super) signature: String,
    /// Its documentation.
    pub(super) documentation: String,
}

impl Contract {
    /// Returns the interface that a component exports as `feedback:policy/name@0.1.0`.
    pub(super) fn interface(&self, exported: &str) -> Option<&Interface> {
        let (_, name) = exported.split_once('/')?;
        let (name, _) = name.split_once('@')?;
        self.0.iter().find(|interface| interface.name == name)
    }
}

impl Interface {
    /// Returns the function that a component exports as `redact` or `[method]filter.push`.
    pub(super) fn function(&self, exported: &str) -> Option<&Function> {
        let name = exported.rsplit(']').next()?;
        self.functions.iter().find(|function| function.name == name)
    }
}

/// Reads the contract.
pub(super) fn read() -> Contract {
    Contract(FILES.iter().filter_map(|text| interface(text)).collect())
}

fn interface(text: &str) -> Option<Interface> {
    let mut found: Option<Interface> = None;
    let mut resource: Option<String> = None;
    let mut documentation: Vec<&str> = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(sentence) = line.strip_prefix("///") {
            documentation.push(sentence.strip_prefix(' ').unwrap_or(sentence));
            continue;
        }
        if line.starts_with('@') {
            continue;
        }
        let documented = std::mem::take(&mut documentation).join("\n");
        if let Some(name) = opened(line, "interface") {
            found = Some(Interface {
                name,
                documentation: documented,
                functions: Vec::new(),
            });
        } else if let Some(name) = opened(line, "resource") {
            resource = Some(name);
        } else if line == "}" {
            resource = None;
        } else if let (Some((name, signature)), Some(interface)) = (function(line), &mut found) {
            interface.functions.push(Function {
                name: match &resource {
                    Some(resource) => format!("{resource}.{name}"),
                    None => name.to_owned(),
                },
                signature: signature.to_owned(),
                documentation: documented,
            });
        }
    }
    found
}

fn opened(line: &str, what: &str) -> Option<String> {
    let name = line.strip_prefix(what)?.strip_suffix('{')?.trim();
    Some(name.to_owned())
}

fn function(line: &str) -> Option<(&str, &str)> {
    let (name, signature) = line.strip_suffix(';')?.split_once(": ")?;
    let is_function = signature.starts_with("func(") || signature.starts_with("static func(");
    is_function.then_some((name, signature))
}
