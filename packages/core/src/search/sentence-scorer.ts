import type { TermGroup } from './term-groups.ts'
import { fieldMark, sentenceBreak } from './words/tokenize.ts'

/** How well the sentences of a skill match a query. */
export interface SentenceScores {
  /** Score of the best sentence, heading or name: the value of its terms, up to doubled if they are adjacent. */
  best: number
  /** 1 if a name of the skill consists of the query's terms and nothing else. */
  name: number
}

/** Bonus for a sentence that consists only of terms of the query. */
const wholeness = 0.1

/** Scores the sentences of skills for one query at a time; its tables are reused. */
export class SentenceScorer {
  readonly scores: SentenceScores = { best: 0, name: 0 }
  #groups = new Uint8Array(0)
  #values = new Float64Array(0)
  #ids: number[] = []
  #total = 1

  /** Sets the query. `end` is one more than the largest word id. */
  prepare(groups: TermGroup[], end: number): void {
    for (const id of this.#ids) this.#groups[id] = 0
    this.#ids = []
    this.#total = groups.reduce((sum, group) => sum + group.idf, 0) || 1
    if (end > this.#groups.length) {
      this.#groups = new Uint8Array(end * 2)
      this.#values = new Float64Array(end * 2)
    }
    for (const [number, group] of groups.entries()) {
      for (const { id, value } of group.variants) {
        if (this.#groups[id] !== 0) continue
        this.#groups[id] = number + 1
        this.#values[id] = value / this.#total
        this.#ids.push(id)
      }
    }
  }

  /** Scores the words of one skill. The next call overwrites the result. */
  read(words: Int32Array): SentenceScores {
    const scores = this.scores
    const groups = this.#groups
    const values = this.#values
    scores.best = 0
    scores.name = 0
    let field = 0
    let covered = 0
    let close = 0
    let seen = 0
    let matched = 0
    let start = 1
    let last = -1
    for (let i = 0; i < words.length; i++) {
      const word = words[i]!
      if (word === sentenceBreak) {
        if (covered > 0)
          scores.best = Math.max(scores.best, covered * (1 + (wholeness * matched) / (i - start)) + close)
        if (field === 0) scores.name = Math.max(scores.name, (covered * matched) / (i - start))
        covered = close = seen = matched = 0
        start = i + 1
        last = -1
        continue
      }
      if (word >= fieldMark) {
        field = word - fieldMark
        start = i + 1
        continue
      }
      const group = groups[word]!
      if (group === 0) continue
      matched++
      const bit = 1 << (group - 1)
      if ((seen & bit) === 0) {
        const value = values[word]!
        covered += value
        if (last >= 0) close += Math.min(value, values[words[last]!]!) / (i - last)
        seen |= bit
      }
      last = i
    }
    return scores
  }
}
