import { createRequire } from 'node:module'
import type { Input, Parser } from '@lezer/common'
import type { Tree } from './syntax.ts'

// Parsers are loaded on first use, because loading one takes longer than scanning a SKILL.md. Bundled programs contain
// them.
const require = createRequire(import.meta.url)

/** Maximum number of characters of code to parse. The code after them is not read. */
const charactersMax = 1024 * 1024
const depthMax = 500
/** Maximum steps of a parser to recover from errors. Each takes fifty times as long as a step through correct code. */
const recoveriesMax = 20_000
/** How many times a parser may read the text: it reads far ahead where comments or strings are not closed. */
const readingsMax = 20
const pieceCharacters = 1024

export type Grammar = 'python' | 'script' | 'jsx'

const loadPython = (): typeof import('@lezer/python') => require('@lezer/python')
const loadScript = (): typeof import('@lezer/javascript') => require('@lezer/javascript')
const loaders: Readonly<Record<Grammar, () => Parser>> = {
  python: () => loadPython().parser,
  script: () => loadJavaScript('ts'),
  jsx: () => loadJavaScript('ts jsx'),
}

function loadJavaScript(dialect: string): Parser {
  return loadScript().parser.configure({ dialect })
}

const parsers = new Map<Grammar, Parser>()

interface Parsed {
  readonly tree: Tree
  /** The text that the positions of the tree are in. */
  readonly text: string
  /** Why parsing ended early, as a sentence. */
  readonly cut?: string
}

/** Parses code, also if it is damaged, in linear time. Nodes that are nested too deeply are left out. */
export function parseCode(grammar: Grammar, given: string): Parsed {
  const text = shortenChains(given)
  const parser = parsers.get(grammar) ?? loaders[grammar]()
  parsers.set(grammar, parser)
  const input = new CountedText(text)
  const parse = parser.startParse(input)
  if (text.length > charactersMax) parse.stopAt(charactersMax)
  let recoveries = 0
  const readsMax = (readingsMax * text.length) / pieceCharacters + 200
  let isStopped = false
  let found = parse.advance()
  for (; found === null; found = parse.advance()) {
    // Lezer has a private field for whether it is recovering from an error.
    if ('recovering' in parse && Boolean(parse.recovering)) recoveries++
    if (isStopped || (recoveries < recoveriesMax && input.reads <= readsMax)) continue
    isStopped = true
    parse.stopAt(parse.parsedPos)
  }
  const root: Tree & { children: Tree[] } = { name: found.type.name, start: 0, end: found.length, children: [] }
  const open = [{ node: root, depth: 0 }]
  let isDeep = false
  found.iterate({
    enter({ name, from, to }) {
      const { node: parent, depth } = open.at(-1)!
      const node: typeof root = { name, start: from, end: to, children: [] }
      // Directly nested operations count as one level, because a long sum is nested as deeply as it has parts.
      open.push({ node, depth: depth + Number(name !== parent.name || name !== 'BinaryExpression') })
      if (depth > depthMax) isDeep = true
      else if (open.length > 2) parent.children.push(node)
      else open[1]!.node = root
    },
    leave: () => void open.pop(),
  })
  if (isDeep) return { tree: root, text, cut: `Code nested more than ${depthMax} levels deep was not read.` }
  if (root.end < text.length)
    return { tree: root, text, cut: `Code after its first ${root.end} characters was not read.` }
  return { tree: root, text }
}

/** A text that a parser reads in pieces. Counts the pieces that continue where the previous piece ended. */
class CountedText implements Input {
  readonly lineChunks = false
  reads = 0
  readonly #text: string
  #next = 0

  constructor(text: string) {
    this.#text = text
  }

  get length(): number {
    return this.#text.length
  }

  chunk(from: number): string {
    if (from === this.#next) this.reads++
    this.#next = from + pieceCharacters
    return this.#text.slice(from, this.#next)
  }

  read(from: number, to: number): string {
    return this.#text.slice(from, to)
  }
}

/** Minimum operands of a chain that is shortened, because parsers give up on very long chains. */
const operandsMax = 200
const plus = String.raw`\s{0,200}\+\s{0,200}`

/** For each quote mark: patterns of a chain of literals and of what is between two literals, and its shortest text. */
const chains = ['"', "'"].map((quote) => {
  const literal = String.raw`${quote}(?:[^\\\n${quote}]|\\.){0,400}${quote}`
  return [
    new RegExp(`${literal}(?:${plus}${literal}){${operandsMax},}`, 'g'),
    new RegExp(quote + plus + quote, 'g'),
    `${quote}+${quote}`,
  ] as const
})

/**
 * Joins all but the first of the literals in chains like `"a" + "b" + …` that are too long for a parser. The text keeps
 * its length, so that positions after a chain stay the same.
 */
function shortenChains(text: string): string {
  return chains.reduce((shortened, [chain, between, kept]) => {
    return shortened.replace(chain, (found) => {
      let count = 0
      return found.replace(between, () => (count++ === 0 ? kept : '')).padEnd(found.length)
    })
  }, text)
}
