import ArgumentParser

/// `--wait [D]`.
struct WaitOptions: ParsableArguments {
    @Option(
        defaultAsFlag: WaitLimit.unlimited,
        parsing: .next,
        help: ArgumentHelp(
            "Wait until there is one. A duration is \(DurationText.forms); 0 tries once.",
            valueName: "duration"
        )
    )
    var wait: WaitLimit?
}
