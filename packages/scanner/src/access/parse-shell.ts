import { createFrame, dropWord, toShortWord, type Frame } from './shell-frame.ts'
import {
  arithmeticCharactersMax,
  choice,
  closing,
  functionName,
  heredocPattern,
  ordinary,
  placeholderPattern,
  quotedRun,
  variable,
} from './shell-patterns.ts'
import { ShellText } from './shell-text.ts'
import { knownPrograms } from './access-words.ts'

/** A command of a script: its words without quotes, and its inline input (here-document), if any. */
export interface ShellCommand {
  readonly words: string[]
  input?: string
}

/** The parts of a shell script that show what it uses. */
export interface ShellScript {
  readonly commands: readonly ShellCommand[]
  /** Names of functions that the script defines, which are not programs. */
  readonly functions: ReadonlySet<string>
  /** Variables that are read, with the operator after the name in braces: `:-` is a default. */
  readonly reads: readonly { readonly name: string; readonly operator: string }[]
}

/** Maximum depth of nested command substitutions. Deeper ones count as text. */
const depthMax = 16
const wordsMax = 200

/**
 * Splits a shell script into its simple commands, in one pass over its characters. Never throws, and takes linear time;
 * text that is not a shell script yields words that match no program.
 */
export function parseShell(text: string): ShellScript {
  const parser = new ShellParser(text)
  parser.run()
  return parser
}

class ShellParser implements ShellScript {
  readonly commands: ShellCommand[] = []
  readonly functions = new Set<string>()
  readonly reads: { name: string; operator: string }[] = []
  readonly #text: ShellText
  #frames: Frame[] = [createFrame(undefined)]
  #heredocs: { command: ShellCommand; end: string }[] = []
  /** Index of the first command of a pipe, which may turn out to be patterns of a `case`. */
  #pipeStart = 0

  constructor(text: string) {
    this.#text = new ShellText(text)
  }

  get #frame(): Frame {
    return this.#frames.at(-1)!
  }

  run(): void {
    while (!this.#text.isAtEnd) {
      if (this.#frame.quoted) this.#readQuoted()
      else this.#readPlain()
    }
    while (this.#frames.length > 1) this.#closeFrame()
    this.#endCommand()
  }

  #readPlain(): void {
    const char = this.#text.peek()!
    const frame = this.#frame
    switch (char) {
      case '\n':
        this.#endCommand()
        this.#pipeStart = this.commands.length
        this.#text.at++
        return this.#readHeredocs()
      case ' ':
      case '\t':
      case '\r':
        this.#text.at++
        return this.#endWord()
      case ';':
      case '|':
      case '&':
        return this.#separate(char)
      case '#':
        return frame.hasWord ? this.#take(1) : void this.#text.takeUntil('\n')
      case "'":
        return this.#readSingle()
      case '"':
        return this.#openDouble()
      case '\\':
        return this.#readEscape()
      case '$':
        return this.#readDollar()
      case '`':
        return this.#readBacktick()
      case '(':
        return this.#openGroup()
      case ')':
        return this.#closeGroup()
      case '<':
      case '>':
        return this.#readRedirect(char)
      default:
        return this.#takeRun()
    }
  }

  /** Takes a run of characters without meaning to a shell. */
  #takeRun(): void {
    this.#take(this.#text.match(ordinary)?.[0].length || 1)
  }

  #take(length: number): void {
    this.#append(this.#text.take(length))
  }

  #append(text: string): void {
    const frame = this.#frame
    frame.pieces.push(text)
    frame.hasWord = true
  }

  #readSingle(): void {
    if (!this.#text.isClosed("'")) return this.#take(1)
    this.#text.at++
    this.#append(this.#text.takeUntil("'"))
    this.#text.at++
  }

  #openDouble(): void {
    if (!this.#text.isClosed('"')) return this.#take(1)
    this.#text.at++
    this.#frame.quoted = true
    this.#frame.hasWord = true
  }

  #readQuoted(): void {
    const char = this.#text.peek()!
    const frame = this.#frame
    if (char === '"') {
      this.#text.at++
      frame.quoted = false
    } else if (char === '\\') this.#readEscape()
    else if (char === '$') this.#readDollar()
    else if (char === '`') this.#readBacktick()
    else this.#take(this.#text.match(quotedRun)?.[0].length || 1)
  }

  #readEscape(): void {
    const next = this.#text.peek(1)
    this.#text.at += 2
    // A continued line.
    if (next === '\n') return
    if (next === '\r' && this.#text.peek() === '\n') return void this.#text.at++
    this.#append(next ?? '')
  }

  #readDollar(): void {
    if (this.#text.startsWith('$((')) return this.#skipArithmetic(3)
    if (this.#text.peek(1) === '(') return this.#openFrame(')', 2)
    const match = this.#text.match(variable)
    if (!match) return this.#take(1)
    const name = match[1] ?? match[2]!
    this.reads.push({ name, operator: match[3] ?? '' })
    // The text of a default is parsed as usual, so that commands in it are found.
    this.#take(match[0].length)
  }

  #skipArithmetic(length: number): void {
    const end = this.#text.ahead(arithmeticCharactersMax).indexOf('))')
    this.#take(end === -1 ? length : end + 2)
  }

  #readBacktick(): void {
    if (this.#frame.end === '`') return this.#closeFrame()
    if (!this.#text.isClosed('`')) return this.#take(1)
    this.#openFrame('`', 1)
  }

  #openFrame(end: ')' | '`', length: number): void {
    if (this.#frames.length > depthMax) return this.#take(length)
    this.#text.at += length
    this.#append('$()')
    this.#frames.push(createFrame(end))
  }

  #closeFrame(): void {
    this.#endCommand()
    this.#frames.pop()
    this.#text.at++
  }

  #openGroup(): void {
    const frame = this.#frame
    const { words } = frame.command
    if (this.#text.startsWith('((') && words.length === 0 && !frame.hasWord) return this.#skipArithmetic(2)
    const isArray = frame.hasWord && this.#text.peek(-1) === '='
    const name = words.length === 0 ? toShortWord(frame) : words.length === 1 && !frame.hasWord ? words[0]! : ''
    this.#text.at++
    if (!isArray && functionName.test(name) && closing.test(this.#text.ahead(3))) {
      this.functions.add(name)
      this.#text.takeUntil(')')
      this.#text.at++
      frame.command = { words: [] }
      dropWord(frame)
      return
    }
    // `chore(deps)` in a document is not shell syntax.
    if (frame.hasWord && !isArray) return this.#append('(')
    if (isArray) this.#endWord()
    else this.#endCommand()
    if (frame.groups.length < wordsMax) frame.groups.push(isArray ? 'array' : 'group')
  }

  #closeGroup(): void {
    const frame = this.#frame
    const group = frame.groups.pop()
    if (!group && frame.end === ')') return this.#closeFrame()
    this.#text.at++
    if (group === 'group') return this.#endCommand()
    if (group === 'array') this.#endWord()
    // Patterns of a `case` and words of an array are not commands.
    if (!group) this.commands.length = Math.min(this.commands.length, this.#pipeStart)
    const assignment = group === 'array' ? frame.command.words.slice(0, 1) : []
    frame.command = { words: assignment }
    dropWord(frame)
  }

  #separate(char: string): void {
    const frame = this.#frame
    if (char === '&' && this.#text.peek(1) === '>') return void this.#text.at++
    if (char === '|' && this.#isChoice()) return this.#take(1)
    const inTest = frame.command.words[0] === '[['
    if (
      frame.groups.at(-1) === 'array' ||
      (inTest && frame.command.words.at(-1) !== ']]' && toShortWord(frame) !== ']]')
    )
      this.#endWord()
    else this.#endCommand()
    if (char !== '|') this.#pipeStart = this.commands.length
    this.#text.at++
  }

  /** `on|off` in a document is a choice of words, `ls|wc` is a pipe. */
  #isChoice(): boolean {
    const next = this.#text.match(choice, -1)?.[1]
    return next !== undefined && !knownPrograms.has(next)
  }

  #readRedirect(char: '<' | '>'): void {
    const frame = this.#frame
    const ahead = this.#text.ahead(60)
    const placeholder = placeholderPattern.exec(ahead)
    if (placeholder) return this.#take(placeholder[0].length)
    if (ahead.startsWith('<(') || ahead.startsWith('>(')) return this.#openFrame(')', 2)
    const heredoc = heredocPattern.exec(ahead)
    if (heredoc && !ahead.startsWith('<<<')) {
      this.#endWord()
      this.#heredocs.push({ command: frame.command, end: heredoc[2] ?? heredoc[3]! })
      this.#text.at += heredoc[0].length
      return
    }
    if (/^\d?$/.test(toShortWord(frame))) dropWord(frame)
    this.#endWord()
    this.#text.at += /^(?:<<<|>>|>\||<>|[<>]&?)/.exec(ahead)?.[0].length ?? 1
    if (char === '>' || !ahead.startsWith('<<<')) frame.skips = 'target'
  }

  #readHeredocs(): void {
    for (const { command, end } of this.#heredocs.splice(0))
      command.input = (command.input ?? '') + this.#text.takeLinesUntil(end)
  }

  #endWord(): void {
    const frame = this.#frame
    if (frame.hasWord) {
      const { words } = frame.command
      if (frame.skips === 'nothing' && words.length < wordsMax) words.push(frame.pieces.join(''))
      frame.skips = 'nothing'
    }
    dropWord(frame)
  }

  #endCommand(): void {
    const frame = this.#frame
    this.#endWord()
    frame.skips = 'nothing'
    if (frame.groups.at(-1) === 'array') return
    if (frame.command.words.length > 0) this.commands.push(frame.command)
    frame.command = { words: [] }
  }
}
