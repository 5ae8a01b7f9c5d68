// The child process of SharedSpaceProcessTests: it obeys the commands of a test, which watches, stops or kills it.
//
// It takes commands from standard input, one a line, and answers each with a line: `ok …`, `none`, or `error <code>
// <holder> <text>`. When standard input ends, so does the process, so no child outlives its test.

import Glibc

if let mode = CommandLine.arguments.dropFirst().first, mode.hasPrefix("measure") {
    try Measuring.run(Array(CommandLine.arguments.dropFirst()))
    exit(0)
}

let agent = Agent()
// Against a test that forgets it while it can't read: nothing here takes that long.
alarm(300)
if CommandLine.arguments.count > 1 {
    // The process has started itself anew, in place of the one that answered so far.
    say("ok")
} else {
    // Descriptors that the test runner inherited would count against the limits that a test sets.
    closefrom(3)
}
while let line = readLine() {
    await agent.obey(line)
}
