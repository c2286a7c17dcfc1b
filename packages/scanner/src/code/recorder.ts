import type { CodeFact, CodeFactKind, CodeFlow, CodeReading, ComputedText } from './reading.ts'

interface Span {
  readonly start: number
  readonly end: number
}

const factsMax = 2000
const flowsMax = 2000
const textsMax = 200
const textCharactersMax = 1024 * 1024
const valueCharactersMax = 300

/** Collects what a reader finds, each thing once and not without limit. */
export class Recorder implements CodeReading {
  readonly facts: CodeFact[] = []
  readonly flows: CodeFlow[] = []
  readonly texts: ComputedText[] = []
  cut?: string
  readonly #known = new Map<string, CodeFact>()
  readonly #flows = new Set<string>()
  #characters = 0

  /** A number that grows with everything that is recorded. */
  get size(): number {
    return this.#known.size + this.flows.length + this.#characters
  }

  /** Returns the fact, also if it is known already. A latent fact counts only as the origin of a flow. */
  add(kind: CodeFactKind, { start, end }: Span, value?: string, isLatent = false): CodeFact {
    const key = `${kind} ${start} ${value}`
    const known = this.#known.get(key)
    if (known) return known
    const fact = { kind, start, end, ...(value !== undefined && { value: value.slice(0, valueCharactersMax) }) }
    if (this.#known.size === factsMax) return fact
    this.#known.set(key, fact)
    if (!isLatent) this.facts.push(fact)
    return fact
  }

  addFlows(from: readonly CodeFact[], to: CodeFact): void {
    for (const one of from) {
      const key = `${one.kind} ${one.start} ${one.value} ${to.kind} ${to.start} ${to.value}`
      if (one === to || this.#flows.has(key) || this.flows.length === flowsMax) continue
      this.#flows.add(key)
      this.flows.push({ from: one, to })
    }
  }

  /** Records what another reader found in a text, at the place of the text. Returns the facts. */
  adopt({ facts, flows, texts, cut }: CodeReading, at: Span): readonly CodeFact[] {
    const own = facts.map(({ kind, value }) => this.add(kind, at, value))
    for (const { from, to } of flows)
      this.addFlows([this.add(from.kind, at, from.value, true)], this.add(to.kind, at, to.value))
    for (const { text, decoded } of texts) this.addText(text, at, decoded)
    if (cut !== undefined) this.cut ??= cut
    return own
  }

  addText(text: string, { start, end }: Span, decoded: readonly string[]): void {
    this.#characters += text.length
    if (this.texts.length === textsMax || this.#characters > textCharactersMax) return
    if (!this.texts.some((each) => each.text === text)) this.texts.push({ text, start, end, decoded })
  }
}
