import SpaceCommands

@main
struct Main {
    static func main() {
        Executable.run()
    }
}
