// The completions of a shell: its script asks the program itself, which reads the words on the line as it reads those of
// a command line, so the two can't disagree.
//
// The answer's first line is its kind: `words` (the candidates follow, one a line), `files` or `directories` (the shell
// looks for them). There is no answer where nothing can be offered.

/// A shell for which there are completions.
package enum CompletionShell: String, CaseIterable, Sendable {
    case bash, zsh, fish
}

/// What a completion knows of the line that is typed.
package struct CompletionRequest: Sendable {
    package let shell: CompletionShell
    /// The words of data in front of the one that is typed: the namespace first.
    package let data: [String]
    /// What is typed of the word.
    package let prefix: String
    fileprivate let options: [(name: String, value: String)]

    /// The value of an option on the line.
    package func value(of option: String) -> String? { options.last { $0.name == option }?.value }
}

/// What can be offered for a word.
package enum Completion: Equatable {
    case words([(word: String, description: String)])
    case files
    case directories

    package static func == (a: Completion, b: Completion) -> Bool { a.isEqual(to: b) }

    private func isEqual(to other: Completion) -> Bool {
        switch (self, other) {
        case (.files, .files), (.directories, .directories): true
        case (.words(let mine), .words(let others)): mine.elementsEqual(others) { $0 == $1 }
        default: false
        }
    }

    /// What can be offered for the last of the words behind a command's name; `nil` if nothing can.
    package init?(_ words: [String], _ declarations: Declarations, shell: CompletionShell) {
        guard let prefix = words.last else { return nil }
        var parser = Parser(declarations)
        do throws(ParseError) {
            try parser.read(words.dropLast().map { Word($0) }[...])
        } catch {
            // All that is missing may be the word that is being typed.
            guard error.isOfMissingWord else { return nil }
        }
        let pending = parser.pending
        let request = CompletionRequest(shell: shell, data: parser.data, prefix: prefix, options: parser.values)
        if parser.isEnded, declarations.tail != nil {
            self = .files
        } else if pending == nil, prefix.hasPrefix("-"), !parser.isEnded {
            let names = declarations.displayed.flatMap { one in one.allNames.map { ($0, one.help.abstract) } }
            self = .words(names.filter { $0.0.hasPrefix(prefix) })
        } else if let place = pending ?? parser.place {
            self.init(place, request)
        } else {
            return nil
        }
    }

    private init?(_ place: Declaration, _ request: CompletionRequest) {
        switch place.completion {
        case .file: self = .files
        case .directory: self = .directories
        case .list(let words): self = .matching(words, request.prefix)
        case .custom(let find): self = .matching(find(request), request.prefix)
        case .none:
            guard !place.allValueStrings.isEmpty else { return nil }
            self = .matching(place.allValueStrings, request.prefix)
        }
    }

    private static func matching(_ words: [String], _ prefix: String) -> Completion {
        .words(words.filter { $0.hasPrefix(prefix) }.map { ($0, "") })
    }

    /// The answer for a shell, without a line break at its end.
    package func answer(for shell: CompletionShell) -> String {
        switch self {
        case .files: return "files"
        case .directories: return "directories"
        case .words(let words):
            let lines = words.map { (word, description) in
                switch shell {
                case .bash: word
                // zshcompsys(1), _describe: what follows a colon is a description.
                case .zsh:
                    word.replacing(#"\"#, with: #"\\"#).replacing(":", with: #"\:"#)
                        + (description.isEmpty ? "" : ":\(description)")
                case .fish: description.isEmpty ? word : "\(word)\t\(description)"
                }
            }
            return (["words"] + lines).joined(separator: "\n")
        }
    }

    /// The words as they were typed, without their quotes and backslashes; nothing in them is expanded.
    ///
    /// fish passes all but the last without quotes; bash and zsh pass them as typed.
    package static func unquoted(_ words: [String], from shell: CompletionShell) -> [String] {
        words.enumerated().map { (position, word) in
            shell == .fish && position < words.count - 1 ? word : unquoted(word)
        }
    }

    private static func unquoted(_ typed: String) -> String {
        var word = ""
        var quote: Character?
        var rest = typed[...]
        while let character = rest.popFirst() {
            switch (quote, character) {
            case (nil, "\\"): if let next = rest.popFirst() { word.append(next) }
            case ("\"", "\\"):
                // bash(1): between double quotes a backslash quotes only these characters.
                let isEscape = rest.first.map { "\"\\$`".contains($0) } ?? false
                word.append(isEscape ? rest.removeFirst() : character)
            case (nil, "'"), (nil, "\""): quote = character
            case (character, _): quote = nil
            default: word.append(character)
            }
        }
        return word
    }
}

extension CompletionShell {
    /// The word that asks for a completion, in front of the shell's name and the words of the line.
    package static let request = "---complete"

    /// The script that a shell loads.
    package func script(for program: String) -> String {
        let function = "_" + program.replacing("-", with: "_")
        return switch self {
        // compgen(1) is not used for the words, because it expands them.
        case .bash:
            """
            #!/bin/bash
            \(function)() {
                local kind line
                COMPREPLY=()
                {
                    IFS= read -r kind
                    case $kind in
                    words) while IFS= read -r line; do COMPREPLY+=("$line"); done ;;
                    files) mapfile -t COMPREPLY < <(compgen -f -- "$2") ;;
                    directories) mapfile -t COMPREPLY < <(compgen -d -- "$2") ;;
                    esac
                } < <("${COMP_WORDS[0]}" \(Self.request) bash "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
            }
            complete -o filenames -F \(function) \(program)
            """
        case .zsh:
            """
            #compdef \(program)
            \(function)() {
                local -a answer candidates
                answer=("${(@f)$("${words[1]}" \(Self.request) zsh "${(@)words[2,CURRENT]}" 2>/dev/null)}")
                case ${answer[1]} in
                words)
                    candidates=("${(@)answer[2,-1]}")
                    (( $#candidates )) && _describe -V '' candidates
                    ;;
                files) _files ;;
                directories) _files -/ ;;
                esac
            }
            if [[ "${funcstack[1]}" = \(function) ]]; then
                \(function) "${@}"
            else
                compdef \(function) \(program)
            fi
            """
        case .fish:
            """
            function _\(function)
                set -l words (commandline -opc) (commandline -ct)
                set -l answer (command $words[1] \(Self.request) fish $words[2..-1] 2>/dev/null)
                switch "$answer[1]"
                    case words
                        test (count $answer) -gt 1; and printf '%s\\n' $answer[2..-1]
                    case files
                        __fish_complete_path (commandline -ct)
                    case directories
                        __fish_complete_directories (commandline -ct)
                end
            end
            complete -c \(program) -f -a '(_\(function))'
            """
        }
    }
}
