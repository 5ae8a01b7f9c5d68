/// The project whose tests run.
public enum Repository {
    /// The path of its top folder.
    public static let folder = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()
}
