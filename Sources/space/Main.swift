import SpaceCommands

@main
struct Main {
    static func main() {
        Program.space()
    }
}
