import CommandWords
import SharedSpace

/// What a word names that may expire: a word of digits is a tuple's id, any other word a cell's key.
struct LastingOptions: ParsableArguments {
    @Flag(help: "The word is a cell's name, although it has digits only.")
    var cell = false

    enum Subject {
        case cell(String)
        case tuple(TupleID)
    }

    func subject(_ word: String) -> Subject {
        guard !cell, word.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let id = UInt64(word) else {
            return .cell(word)
        }
        return .tuple(TupleID(rawValue: id))
    }
}
