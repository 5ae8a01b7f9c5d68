import ArgumentParser
import SharedSpace

/// How one value is printed: `-r`.
struct RawOptions: ParsableArguments {
    @Flag(name: [.customShort("r"), .customLong("raw")], help: "Print a string as it is, without quotes.")
    var raw = false

    func line(_ value: Value) -> String { PrintOptions.line(value, raw: raw) }
}
