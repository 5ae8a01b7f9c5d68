/// Posts a notification to all present watchers.
struct Post: Operation {
    let subject: String
    let value: [UInt8]
    /// The number of the object in whose name it is posted, as an encoded value.
    let sender: [UInt8]?

    static var name: String { "post a notification" }
    static var purpose: WritePurpose { .adding }
    func size(in scope: WriteScope) -> Int { value.count + subject.utf8.count }

    func execute(in scope: WriteScope) throws(SpaceError) {
        try scope.notePost(subject, value, sender: sender)
    }
}
