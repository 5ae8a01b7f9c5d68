/// Ends the process when a fuzzed property doesn't hold, which the fuzzer takes for a crash.
package func check(_ holds: Bool, _ what: String) {
    if !holds { fatalError(what) }
}
