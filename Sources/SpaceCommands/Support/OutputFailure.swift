import SystemPackage

/// Why standard output did not take what was printed.
struct OutputFailure: Error {
    /// The error of write(2); `nil` if a signal asked the command to end while it printed.
    let cause: Errno?

    var failure: CommandFailure {
        switch cause {
        case nil:
            CommandFailure(.nothing, nil)
        case .brokenPipe?:
            CommandFailure(.inputOutput, "cannot print: nobody reads standard output any more (broken pipe)")
        case let cause?:
            CommandFailure(.inputOutput, "cannot print to standard output: \(cause)")
        }
    }
}
