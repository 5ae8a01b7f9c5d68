/// Where a store is, and by what it knows this machine: what `space join` is told.
package struct StoreOptions: Sendable {
    /// The store's members, with commas.
    package var members: String
    /// The file with this machine's certificate.
    package var certificate: String?
    /// The file with the certificate's key.
    package var key: String?
    /// The file with the authorities that have signed the members' certificates.
    package var authorities: String?
    package var user: String?
    /// The file with the user's password.
    package var passwordFile: String?

    package init(members: String) { self.members = members }
}
