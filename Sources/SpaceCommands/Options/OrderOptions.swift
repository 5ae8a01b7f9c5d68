import ArgumentParser
import SharedSpace

/// Which match comes first: `--newest`.
struct OrderOptions: ParsableArguments {
    @Flag(help: "The newest first.")
    var newest = false

    var order: MatchOrder { newest ? .newestFirst : .oldestFirst }
}
