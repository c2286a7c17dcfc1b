import type { Match as Span } from '../text/spans.ts'
import type { CodeFact, CodeFactKind, CodeFlow, CodeReading, ComputedText } from './reading.ts'

const factsMax = 2000
const flowsMax = 2000
const textsMax = 200
const textCharactersMax = 1024 * 1024
const valueCharactersMax = 300

/** Collects the facts, flows and texts that a reader finds, each once, up to a limit. */
export class Recorder implements CodeReading {
  readonly facts: CodeFact[] = []
  readonly flows: CodeFlow[] = []
  readonly texts: ComputedText[] = []
  cut?: string
  readonly #known = new Map<string, CodeFact>()
  readonly #flows = new Set<string>()
  #characters = 0

  /** Records a fact once. Returns the fact. A latent fact counts only as the origin of a flow. */
  add(kind: CodeFactKind, { start, end }: Span, value?: string, isLatent = false): CodeFact {
    const key = toFactKey({ kind, start, value })
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
      const key = `${toFactKey(one)} ${toFactKey(to)}`
      if (one === to || this.#flows.has(key) || this.flows.length === flowsMax) continue
      this.#flows.add(key)
      this.flows.push({ from: one, to })
    }
  }

  /**
   * Records the facts, flows and texts that another reader found in a text, at the place of the text. Returns a
   * function from a fact of that reader to the recorded fact.
   */
  adopt({ facts, flows, texts, cut }: CodeReading, at: Span): (fact: CodeFact) => CodeFact {
    const found = new Set(facts)
    const adopted = (fact: CodeFact): CodeFact =>
      this.#known.get(toFactKey(fact)) === fact ? fact : this.add(fact.kind, at, fact.value, !found.has(fact))
    for (const fact of facts) adopted(fact)
    for (const { from, to } of flows) this.addFlows([adopted(from)], adopted(to))
    for (const { text, decoded } of texts) this.addText(text, at, decoded)
    if (cut !== undefined) this.cut ??= cut
    return adopted
  }

  addText(text: string, { start, end }: Span, decoded: readonly string[]): void {
    this.#characters += text.length
    if (this.texts.length === textsMax || this.#characters > textCharactersMax) return
    if (!this.texts.some((each) => each.text === text)) this.texts.push({ text, start, end, decoded })
  }
}

const toFactKey = ({ kind, start, value }: Pick<CodeFact, 'kind' | 'start'> & { value?: string | undefined }) =>
  `${kind} ${start} ${value}`
