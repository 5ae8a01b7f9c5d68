extension ScalarSet {
    /// The set of a property's name, as `\p{…}` and `[:…:]` have it; `nil` if there is none.
    static func named(_ name: String) -> ScalarSet? {
        switch name.lowercased().filter({ $0 != "_" && $0 != " " && $0 != "-" }) {
        case "l", "letter": .categories(letters)
        case "lu", "uppercaseletter": .categories([.uppercaseLetter])
        case "ll", "lowercaseletter": .categories([.lowercaseLetter])
        case "lt", "titlecaseletter": .categories([.titlecaseLetter])
        case "lm", "modifierletter": .categories([.modifierLetter])
        case "lo", "otherletter": .categories([.otherLetter])
        case "m", "mark": .categories([.nonspacingMark, .spacingMark, .enclosingMark])
        case "mn", "nonspacingmark": .categories([.nonspacingMark])
        case "mc", "spacingmark": .categories([.spacingMark])
        case "me", "enclosingmark": .categories([.enclosingMark])
        case "n", "number": .categories([.decimalNumber, .letterNumber, .otherNumber])
        case "nd", "decimalnumber": .categories([.decimalNumber])
        case "nl", "letternumber": .categories([.letterNumber])
        case "no", "othernumber": .categories([.otherNumber])
        case "p", "punctuation", "punct": .categories(punctuation)
        case "s", "symbol": .categories([.mathSymbol, .currencySymbol, .modifierSymbol, .otherSymbol])
        case "sm", "mathsymbol": .categories([.mathSymbol])
        case "sc", "currencysymbol": .categories([.currencySymbol])
        case "sk", "modifiersymbol": .categories([.modifierSymbol])
        case "so", "othersymbol": .categories([.otherSymbol])
        case "z", "separator": .categories([.spaceSeparator, .lineSeparator, .paragraphSeparator])
        case "zs", "spaceseparator": .categories([.spaceSeparator])
        case "c", "other": .categories([.control, .format, .surrogate, .privateUse, .unassigned])
        case "cc", "control", "cntrl": .categories([.control])
        case "cf", "format": .categories([.format])
        case "any": .anything
        case "ascii": .range(0...0x7F)
        case "alpha", "alphabetic": .property { $0.isAlphabetic }
        case "upper", "uppercase": .property { $0.isUppercase }
        case "lower", "lowercase": .property { $0.isLowercase }
        case "space", "whitespace": .whitespace
        case "digit": .categories([.decimalNumber])
        case "alnum": .property { $0.isAlphabetic || $0.numericType != nil }
        case "blank": .horizontalSpace
        case "xdigit", "hexdigit": .property { $0.isHexDigit }
        default: nil
        }
    }

    private static let letters: Set<Unicode.GeneralCategory> = [
        .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
    ]
    private static let punctuation: Set<Unicode.GeneralCategory> = [
        .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation, .initialPunctuation,
        .finalPunctuation, .otherPunctuation,
    ]
}
