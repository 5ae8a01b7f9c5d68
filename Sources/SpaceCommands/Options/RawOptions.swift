import ArgumentParser
import SharedSpace

/// How one value is printed: `-r`.
struct RawOptions: ParsableArguments {
    @Flag(
        name: [.customShort("r"), .customLong("raw")],
        help: "Print a string, or bytes, as they are, without quotes."
    )
    var raw = false

    func line(_ value: Value) -> PrintedLine { PrintOptions.line(value, raw: raw) }
}
