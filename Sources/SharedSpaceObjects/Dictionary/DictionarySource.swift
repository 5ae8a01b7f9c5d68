/// Turns the changes of a dictionary, or of one of its keys, into its observers' form.
struct DictionarySource<Value: Codable & Sendable>: CollectionSource {
    private let dictionary: SharedDictionary<Value>
    private let keys: DictionaryKeys
    /// The one key whose changes are reported, or `nil` for all keys.
    private let key: String?

    init(_ dictionary: SharedDictionary<Value>, key: String?) {
        self.dictionary = dictionary
        keys = DictionaryKeys(dictionary.name)
        self.key = key
    }

    var name: String { dictionary.name }
    var namespace: Namespace { dictionary.namespace }

    func telling(of change: Change) throws(SpaceError) -> FeedStep<DictionaryChange<Value>> {
        guard change.kind == .set || change.kind == .unset, !change.isPresent else { return .reset }
        guard let key = change.key.flatMap(keys.key(ofCell:)),
            self.key.map({ $0.utf8.elementsEqual(key.utf8) }) ?? true
        else { return .nothing }
        let old = change.old.flatMap { try? $0.decode(Value.self) }
        guard change.kind == .set else { return .told(DictionaryChange(.unset(key, old: old), change, of: dictionary)) }
        do throws(SpaceError) {
            guard let new = try dictionary.decode(change.new, key) else { return .reset }
            return .told(DictionaryChange(.set(key, new, old: old), change, of: dictionary))
        } catch {
            return .failure(error)
        }
    }

    func reset(for change: Change) throws(SpaceError) -> (told: DictionaryChange<Value>, sequence: UInt64) {
        let (entries, sequence) = try dictionary.entries(of: key)
        let reset = DictionaryChange<Value>.Event.reset(entries.asDictionary)
        return (DictionaryChange(reset, change, of: dictionary, sequence: sequence, entries: entries), sequence)
    }

    func checkIsThere() throws(SpaceError) { try dictionary.read { _ in } }

    func end(with change: Change) -> DictionaryChange<Value> { DictionaryChange(.removed, change, of: dictionary) }
}
