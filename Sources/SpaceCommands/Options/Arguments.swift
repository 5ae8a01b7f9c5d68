import CommandWords
import SharedSpace

// Values of the library that words of a command line stand for.

extension Duration: ExpressibleByArgument {
    package init?(argument: String) {
        guard let duration = DurationText.parse(argument) else { return nil }
        self = duration
    }

    package static var forms: String? { DurationText.forms }
}

extension History: ExpressibleByArgument {
    /// A number of changes, and after a comma one of bytes.
    package init?(argument: String) {
        let numbers = argument.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
        guard numbers.count <= 2, let changes = numbers[0], numbers.count == 1 || numbers[1] != nil else { return nil }
        self.init(changes: changes, bytes: numbers.count == 2 ? numbers[1] : nil)
    }
}

extension NamespaceLife: ExpressibleByArgument {}
extension FirstChange: ExpressibleByArgument {}
