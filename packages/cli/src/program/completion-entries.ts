import type { ListedCommand } from '../command/command.ts'

/** A command with its options, for completion. */
export interface Entry {
  /** A single word, or a noun and its verb. */
  readonly name: string
  readonly summary: string
  readonly options: readonly {
    readonly name: string
    readonly help: string
    /** Placeholder of the option's value; undefined for a flag. */
    readonly value?: string
    readonly isPath: boolean
  }[]
  /** Whether its positional arguments are paths. */
  readonly takesPath: boolean
}

/** A first word of the command line with its summary. For a noun with several verbs the summary lists the verbs. */
export interface FirstWord {
  readonly word: string
  readonly summary: string
  readonly verbs: readonly { readonly word: string; readonly summary: string }[]
}

/** The commands of a table with their options. */
export async function listEntries(table: readonly ListedCommand[]): Promise<Entry[]> {
  return Promise.all(
    table.map(async ({ name, summary, load }) => {
      const { words = [], options = {} } = await load()
      const shown = Object.entries(options).filter(([, { isRare }]) => !isRare)
      const own = shown.map(([option, { help, value }]) => ({
        name: option,
        help,
        value,
        isPath: isPath(value),
      }))
      return { name, summary, options: [...own, ...everywhere], takesPath: words.some(isPath) }
    }),
  )
}

/** The first words of the commands, in table order. */
export function listFirstWords(entries: readonly Entry[]): FirstWord[] {
  const words = [...new Set(entries.map(({ name }) => name.split(' ')[0]!))]
  return words.map((word) => {
    const verbs = entries
      .filter(({ name }) => name.startsWith(`${word} `))
      .map(({ name, summary }) => ({ word: name.slice(word.length + 1), summary }))
    const own = entries.find(({ name }) => name === word)
    return { word, summary: own?.summary ?? verbs.map((verb) => verb.word).join(', '), verbs }
  })
}

const everywhere = [
  { name: 'json', help: 'print the result as one line of JSON', isPath: false },
  { name: 'help', help: 'show the usage of the command', isPath: false },
]

function isPath(value: string | undefined): boolean {
  return value !== undefined && /\b(?:PATH|FILE|DIR)\b/.test(value)
}
