/// The tools, as `tools/list` shows them: always in this order, so that clients' caches stay valid.
///
/// Each description says what a model has to know, because it has no manual. Together they take less than 5 KB.
enum ToolList {
    static let json = "[" + tools.joined(separator: ",") + "]"

    private static let label =
        #""as":{"type":"string","description":"Your name, if several subagents share this connection"}"#
    private static let wait =
        #""wait_s":{"type":"number","minimum":0,"maximum":50,"description":"Seconds to wait in line; default 0"}"#

    private static func tool(
        _ name: ToolName,
        _ description: String,
        _ properties: [String],
        required: [String] = []
    ) -> String {
        let list = required.map { "\"\($0)\"" }.joined(separator: ",")
        let schema = #"{"type":"object","properties":{\#(properties.joined(separator: ","))},"required":[\#(list)]}"#
        return #"{"name":"\#(name.rawValue)","description":"\#(description)","inputSchema":\#(schema)}"#
    }

    private static let tools = [
        tool(
            .taskAdd,
            "Add tasks to the list that all agents on this repository share, all or none. A task is not given out before those in after are done. One whose key exists already is not added again.",
            [
                #""tasks":{"type":"array","items":{"type":"object","properties":{"title":{"type":"string"},"detail":{"type":"string","description":"All that another agent needs to do it"},"priority":{"type":"integer","minimum":0,"maximum":9,"description":"9 comes first; default 5"},"after":{"type":"array","items":{"type":["integer","string"]},"description":"Ids, or keys of earlier tasks, also in this call"},"key":{"type":"string","description":"A name of yours that makes adding it twice harmless"}},"required":["title"]}}"#
            ],
            required: ["tasks"]
        ),
        tool(
            .taskClaim,
            "Get the next free task: highest priority, then oldest. No other agent gets it, and it goes back by itself if you stop or crash. Do it, then call task_end.",
            [
                #""match":{"type":"string","description":"A regular expression for the title"}"#,
                #""id":{"type":"integer","description":"That task and no other"}"#, wait, label,
            ]
        ),
        tool(
            .taskEnd,
            "End a task that you have claimed: done (frees those that come after it), give_back (another agent gets it), set_aside (a person has to look at it).",
            [
                #""id":{"type":"integer"}"#, #""how":{"enum":["done","give_back","set_aside"]}"#,
                #""note":{"type":"string","description":"For the next agent: what you tried, why you stopped"}"#,
                label,
            ],
            required: ["id", "how"]
        ),
        tool(
            .hold,
            "Reserve files, ports or anything with a name before you use it, so that no other agent does. All names or none. If one is taken you are told who has it, since when, why, and your place in line. It is yours until let_go, or your end.",
            [
                #""names":{"type":"array","items":{"type":"string"},"description":"file:src/** (from the repository's root; *, ? and ** work), port:3000-3010 (gives you a free one), branch:main, gpu, or any word"}"#,
                #""why":{"type":"string","description":"Told to those who want it too"}"#, wait, label,
            ],
            required: ["names"]
        ),
        tool(
            .letGo,
            "Let go of names that you hold; without names, of all.",
            [#""names":{"type":"array","items":{"type":"string"}}"#, label]
        ),
        tool(
            .say,
            "Send text to one agent (a name from who) or, without to, to all; and get the messages for you since your last call. Without text it only gets messages.",
            [#""to":{"type":"string"}"#, #""text":{"type":"string"}"#, wait, label]
        ),
        tool(
            .who,
            "Who is here: agents with their tasks, what they hold and wait for, deadlocks, and how many tasks are free.",
            [label]
        ),
    ]
}

/// The names of the tools.
enum ToolName: String, CaseIterable, Sendable {
    case taskAdd = "task_add"
    case taskClaim = "task_claim"
    case taskEnd = "task_end"
    case hold
    case letGo = "let_go"
    case say
    case who
}
