const charactersMin = 3
const factorsMax = 200

/**
 * Lower-case texts of three characters at least of which every match of an expression holds one, or nothing where that
 * cannot be told: of the parts that a match must have, those whose shortest text is the longest.
 */
export function toFactors({ source }: RegExp): readonly string[] | undefined {
  const reader = new Reader(source.toLowerCase() === source ? source : foldCase(source))
  const factors = reader.alternatives()
  return factors && factors.length <= factorsMax ? factors : undefined
}

/** Letters are looked for in lower case; those of an escape keep theirs. */
function foldCase(source: string): string {
  return source.replace(/\\.|[A-Z]/g, (found) => (found.length === 1 ? found.toLowerCase() : found))
}

type Factors = readonly string[]

const classPattern = /\[(?:\\[^]|[^\]\\])*\]/y
const groupPattern = /\((?:\?(?:(?<look><?[=!])|:|<[^>]*>|[a-z-]+:))?/y
const quantifierPattern = /(?:(?<none>[*?])|\+|\{(?<least>\d+)(?:,\d*)?\})\??/y
/** An escape that stands for one character, and is no class and no place. */
const literalEscapePattern = /\\(?<character>[^a-z\d])/iy
const escapePattern = /\\(?:u[\da-f]{4}|x[\da-f]{2}|[pP]\{[^}]*\}|k<[^>]*>|[^])/iuy
const wordEdges: ReadonlySet<string> = new Set(['\\b', '\\B'])

class Reader {
  readonly #source: string
  #at = 0

  constructor(source: string) {
    this.#source = source
  }

  alternatives(): Factors | undefined {
    let all = this.#sequence()
    while (this.#source[this.#at] === '|') {
      this.#at++
      const more = this.#sequence()
      all = all && more ? [...all, ...more] : undefined
    }
    return all
  }

  #sequence(): Factors | undefined {
    let best: Factors | undefined
    let run = ''
    const offer = (factors: Factors | undefined) => {
      if (factors && shortest(factors) >= charactersMin && shortest(factors) > shortest(best)) best = factors
    }
    while (this.#at < this.#source.length && this.#source[this.#at] !== '|' && this.#source[this.#at] !== ')') {
      const one = this.#one()
      const isOptional = this.#isOptional()
      if (one === 'nothing') continue
      if (typeof one === 'string' && isOptional === undefined) run += one.slice(1)
      else {
        offer([run])
        run = ''
        if (Array.isArray(one) && !isOptional) offer(one as Factors)
      }
    }
    offer([run])
    return best
  }

  /** A character behind a `=`, the factors of a group, or nothing: `any` takes room, `nothing` takes none. */
  #one(): string | Factors | undefined {
    if (this.#read(classPattern)) return undefined
    const group = this.#read(groupPattern)
    if (group) {
      const factors = this.alternatives()
      this.#at++
      return group.groups!['look'] ? 'nothing' : factors
    }
    const literal = this.#read(literalEscapePattern)
    if (literal) return `=${literal.groups!['character']!}`
    const escape = this.#read(escapePattern)
    if (escape) return wordEdges.has(escape[0]) ? 'nothing' : undefined
    const character = this.#source[this.#at++]!
    if (character === '^' || character === '$') return 'nothing'
    return character === '.' ? undefined : `=${character}`
  }

  /** Whether a quantifier allows for none; nothing where there is no quantifier. */
  #isOptional(): boolean | undefined {
    const found = this.#read(quantifierPattern)
    if (!found) return undefined
    return found.groups!['none'] !== undefined || found.groups!['least'] === '0'
  }

  #read(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#source)
    if (found) this.#at = pattern.lastIndex
    return found
  }
}

function shortest(factors: Factors | undefined): number {
  return factors ? Math.min(...factors.map(({ length }) => length)) : 0
}
