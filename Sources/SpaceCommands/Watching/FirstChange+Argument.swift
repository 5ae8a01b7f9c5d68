import CommandWords
import SharedSpace

extension FirstChange: ExpressibleByArgument {
    init?(argument: String) { self.init(argument) }
}
