//! `wit/` as a specification: everything is documented and versioned, and nothing that was
//! published has changed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use wit_component::semver_check;
use wit_parser::{
    Docs, PackageId, Resolve, Stability, Type, TypeDefKind, TypeOwner, WorldId, WorldItem,
};

/// The newest contract that was published, as it was. Renewed when another one is.
const PUBLISHED: &str = "../tests/component/contract-0.1.0";

/// A contract, read.
pub(crate) struct Contract {
    resolve: Resolve,
    package: PackageId,
    world: WorldId,
}

/// Returns the contract in `wit/`.
pub(crate) fn current() -> Contract {
    read("../wit")
}

fn read(folder: &str) -> Contract {
    let mut resolve = Resolve::default();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let (package, _) = resolve.push_dir(&folder).expect("a contract");
    let world = resolve.select_world(&[package], None).expect("its world");
    Contract {
        resolve,
        package,
        world,
    }
}

impl Contract {
    /// Returns every function as the vectors name it, and whether it can be refused.
    pub(crate) fn functions(&self) -> BTreeMap<String, bool> {
        let mut functions = BTreeMap::new();
        for (interface, id) in &self.resolve.packages[self.package].interfaces {
            for (name, function) in &self.resolve.interfaces[*id].functions {
                let plain = name.rsplit(']').next().expect("a name");
                let can_be_refused = match function.result {
                    Some(Type::Id(id)) => {
                        matches!(self.resolve.types[id].kind, TypeDefKind::Result(_))
                    }
                    _ => false,
                };
                functions.insert(format!("{interface}.{plain}"), can_be_refused);
            }
        }
        functions
    }

    /// Returns the cases of an enum.
    pub(crate) fn cases(&self, name: &str) -> BTreeSet<String> {
        let mut types = self.resolve.types.iter().map(|(_, kind)| kind);
        types
            .find_map(|kind| match &kind.kind {
                TypeDefKind::Enum(cases) if kind.name.as_deref() == Some(name) => {
                    Some(cases.cases.iter().map(|case| case.name.clone()).collect())
                }
                _ => None,
            })
            .expect("an enum")
    }

    /// Returns what is missing: a text for each item without documentation or version.
    fn gaps(&self) -> Vec<String> {
        let package = &self.resolve.packages[self.package];
        let mut gaps = Gaps::default();
        let world = &self.resolve.worlds[self.world];
        gaps.item("world", &world.docs, &world.stability);
        for (key, item) in &world.exports {
            match item {
                WorldItem::Interface { stability, .. } => {
                    gaps.since(&format!("{key:?}"), stability);
                }
                WorldItem::Function(_) | WorldItem::Type { .. } => {
                    gaps.0.push(format!("{key:?}: not in an interface"));
                }
            }
        }
        for (name, id) in &package.interfaces {
            let interface = &self.resolve.interfaces[*id];
            gaps.item(name, &interface.docs, &interface.stability);
            for function in interface.functions.values() {
                let name = format!("{name}.{}", function.name);
                gaps.item(&name, &function.docs, &function.stability);
            }
            for id in interface.types.values() {
                self.gaps_of_type(*id, name, &mut gaps);
            }
        }
        gaps.0
    }

    fn gaps_of_type(&self, id: wit_parser::TypeId, interface: &str, gaps: &mut Gaps) {
        let kind = &self.resolve.types[id];
        let name = format!("{interface}.{}", kind.name.as_deref().unwrap_or("a type"));
        if let TypeDefKind::Type(Type::Id(of)) = &kind.kind
            && self.resolve.types[*of].owner != kind.owner
        {
            // What `use` brings in is documented where it is defined.
            assert!(matches!(kind.owner, TypeOwner::Interface(_)));
            return;
        }
        gaps.item(&name, &kind.docs, &kind.stability);
        let parts: Vec<(&String, &Docs)> = match &kind.kind {
            TypeDefKind::Record(record) => record
                .fields
                .iter()
                .map(|field| (&field.name, &field.docs))
                .collect(),
            TypeDefKind::Enum(cases) => cases
                .cases
                .iter()
                .map(|case| (&case.name, &case.docs))
                .collect(),
            TypeDefKind::Variant(cases) => cases
                .cases
                .iter()
                .map(|case| (&case.name, &case.docs))
                .collect(),
            TypeDefKind::Flags(flags) => flags
                .flags
                .iter()
                .map(|flag| (&flag.name, &flag.docs))
                .collect(),
            _ => Vec::new(),
        };
        for (part, docs) in parts {
            gaps.docs(&format!("{name}.{part}"), docs);
        }
    }
}

#[derive(Default)]
struct Gaps(Vec<String>);

impl Gaps {
    fn item(&mut self, name: &str, docs: &Docs, stability: &Stability) {
        self.docs(name, docs);
        self.since(name, stability);
    }

    fn docs(&mut self, name: &str, docs: &Docs) {
        let text = docs.contents.as_deref().unwrap_or_default().trim();
        if !text.ends_with(['.', '?']) && !text.ends_with("```") {
            self.0
                .push(format!("{name}: no sentence says what it is: `{text}`"));
        }
    }

    fn since(&mut self, name: &str, stability: &Stability) {
        if !matches!(stability, Stability::Stable { .. }) {
            self.0.push(format!("{name}: no `@since`"));
        }
    }
}

/// Parses one text as a contract.
fn parse(wit: &str) -> Contract {
    let mut resolve = Resolve::default();
    let package = resolve.push_str("test.wit", wit).expect("WIT");
    let world = resolve.select_world(&[package], None).expect("a world");
    Contract {
        resolve,
        package,
        world,
    }
}

/// Says why a component that follows `new` would not serve a host that was written against `old`.
fn breaks(old: Contract, new: Contract) -> Option<String> {
    let mut resolve = new.resolve;
    let mut older = old.resolve;
    // Both may have the same version: then they would be taken for the same package.
    let name = &mut older.packages[old.package].name;
    name.version = None;
    older.package_names.clear();
    older
        .package_names
        .insert(older.packages[old.package].name.clone(), old.package);
    let map = resolve.merge(older).expect("two packages");
    let old = map
        .map_world(old.world, wit_parser::Span::default())
        .expect("the old world");
    // It asks whether what exports its first world is enough for who expects its second.
    semver_check(resolve, new.world, old)
        .err()
        .map(|error| format!("{error:#}"))
}

#[test]
fn everything_in_the_contract_is_documented_and_versioned() {
    assert_eq!(current().gaps(), Vec::<String>::new());
}

#[test]
fn a_gap_in_a_contract_is_found() {
    let gaps = parse(
        "package a:b@0.1.0;
         /// Documented.
         @since(version = 0.1.0)
         interface i {
           /// Documented.
           @since(version = 0.1.0)
           record r { x: u32 }
           /// Documented, not versioned.
           f: func();
           @since(version = 0.1.0)
           g: func();
         }
         world w { @since(version = 0.1.0) export i; }",
    )
    .gaps();
    for wanted in [
        "world: no sentence",
        "world: no `@since`",
        "i.r.x: no s",
        "i.f: no `@",
        "i.g: no s",
    ] {
        assert!(
            gaps.iter().any(|gap| gap.starts_with(wanted)),
            "{wanted} in {gaps:?}"
        );
    }
    assert_eq!(gaps.len(), 5, "{gaps:?}");
}

#[test]
fn nothing_that_was_published_has_changed() {
    assert_eq!(breaks(read(PUBLISHED), current()), None);
}

#[test]
fn a_break_of_the_contract_is_found_and_an_addition_is_none() {
    let contract = |body: &str| {
        parse(&format!(
            "package a:b@0.1.0; interface i {{ {body} }} world w {{ export i; }}"
        ))
    };
    let old = "record r { x: u32 } f: func() -> r; g: func(a: string);";
    let check = |new: &str| breaks(contract(old), contract(new));
    assert_eq!(check(old), None);
    assert_eq!(
        check(&format!("{old} h: func();")),
        None,
        "an added function"
    );
    for (change, new) in [
        ("a removed function", "record r { x: u32 } f: func() -> r;"),
        (
            "a field more",
            "record r { x: u32, y: u32 } f: func() -> r; g: func(a: string);",
        ),
        (
            "another type",
            "record r { x: u64 } f: func() -> r; g: func(a: string);",
        ),
        (
            "an argument more",
            "record r { x: u32 } f: func() -> r; g: func(a: string, b: u8);",
        ),
        (
            "another name",
            "record r { x: u32 } f: func() -> r; g: func(b: string);",
        ),
    ] {
        assert!(check(new).is_some(), "{change} is not found");
    }
}
