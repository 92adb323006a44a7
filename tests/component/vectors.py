"""Plays tests/vectors/*.json on a component, with the `wasmtime` package. Notation: tests/vectors/README.md."""
import glob, hashlib, json, os, sys
from wasmtime import Config, Engine, Store, WasiConfig
from wasmtime.component import Component, Linker

component, folder, wasi = sys.argv[1], sys.argv[2], "--wasi" in sys.argv
engine = Engine()
component, linker = Component.from_file(engine, component), Linker(engine)
if wasi:
    linker.add_wasip2()

def pieces(value, kept):
    def one(piece):
        if isinstance(piece, str): return piece.encode()
        if "hex" in piece: return bytes.fromhex(piece["hex"])
        if "kept" in piece: return kept[piece["kept"]].encode()
        return piece["repeat"].encode() * piece["times"]
    return b"".join(map(one, value))

def argument(value, kept):
    if not isinstance(value, dict): return value
    (key, inner), = value.items()
    if key == "text": return pieces(inner, kept).decode()
    if key == "bytes": return pieces(inner, kept)
    if key == "json": return json.dumps(inner, ensure_ascii=False, separators=(",", ":"))
    return int(inner) if key == "u64" else kept[inner]

def shown(value):
    if isinstance(value, str) and len(value.encode()) > 1500:
        return {"sha256": hashlib.sha256(value.encode()).hexdigest(), "bytes": len(value.encode())}
    if isinstance(value, list): return [shown(item) for item in value]
    if type(value).__name__ == "Record": return {key: shown(item) for key, item in vars(value).items()}
    return str(value) if isinstance(value, int) and value > 2**53 - 1 else value

def function(store, instance, name):
    interface, *rest = name.split(".")
    outer = instance.get_export_index(store, f"feedback:policy/{interface}@0.1.0")
    for prefix in ["[static]", "[method]"] if len(rest) == 2 else [""]:
        index = instance.get_export_index(store, prefix + ".".join(rest), outer)
        if index is not None: return instance.get_func(store, index)

calls, wrong = 0, []
for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
    for session in json.load(open(path, encoding="utf-8"))["sessions"]:
        store, kept = Store(engine), {}
        if wasi: store.set_wasi(WasiConfig())
        instance = linker.instantiate(store, component)
        for call in session["calls"]:
            calls += 1
            answer = function(store, instance, call["call"])(store, *[argument(value, kept) for value in call["with"]])
            # Where both sides of a result are records, the package tells them apart with a tag.
            answer = answer.payload if type(answer).__name__ == "Variant" else answer
            found = {key: call[key] for key in ("call", "with", "keep") if key in call}
            fields = vars(answer) if type(answer).__name__ == "Record" else {}
            if set(fields) == {"code", "message"}: found["fault"] = shown(answer)
            elif type(answer).__name__ == "ResourceAny": kept[call["keep"]] = answer
            else:
                found["gives"] = shown(answer)
                if "keep" in call: kept[call["keep"]] = fields.get("json", fields.get("line"))
            if found != call: wrong.append(f"{path}: {session['name']}:\n  wanted {call}\n  found  {found}")
print("\n".join(wrong) or f"{calls} calls agree")
sys.exit(bool(wrong))
