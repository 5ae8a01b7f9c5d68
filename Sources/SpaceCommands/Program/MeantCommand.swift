/// The command that a word stands for which is none, because other programs call it so.
enum MeantCommand {
    static func synonym(of word: String) -> String? {
        switch word.lowercased() {
        case "ls", "namespaces", "tubes": "list"
        case "put", "push", "add", "send", "out", "insert", "rpush", "lpush": "write"
        case "pop", "in", "shift", "receive", "consume", "dequeue", "reserve", "blpop", "brpop": "take"
        case "rd", "peek", "find", "query", "select", "cat": "read"
        case "rm", "del", "remove", "destroy", "drop": "delete"
        case "info", "status", "describe", "inspect", "ps": "show"
        case "sub", "subscribe", "tail", "follow", "listen", "monitor": "watch"
        case "pub", "publish", "notify", "emit", "signal": "post"
        case "call", "ask", "invoke": "request"
        case "answer", "reply", "handle": "respond"
        case "inc", "increment", "add-to", "incrby": "incr"
        case "mutex", "flock": "lock"
        case "sem", "permits": "semaphore"
        case "leader", "election", "campaign": "elect"
        case "export", "save": "dump"
        case "restore", "import": "load"
        case "transaction", "multi": "txn"
        case "keys": "get NS --keys"
        case "enqueue", "job", "jobs", "work": "queue"
        default: nil
        }
    }
}
