import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createAnswerCache, copyJson } from '../../packages/client/src/loading/answer-cache.ts'

const bounds = { answersMax: 4, charactersMax: 60 }
const answerOf = (output: string) => ({ output, etag: undefined, subject: output, sinceMs: 0, forMs: 1 })

/** A slow reference implementation: a list with the most recently used entry at its end. */
function createModel() {
  let held: [key: string, output: string][] = []
  const sizeOf = (list: typeof held) => list.reduce((sum, [key, output]) => sum + key.length + output.length + 2, 0)
  return {
    get(key: string) {
      const found = held.find(([other]) => other === key)
      if (found) held = [...held.filter((other) => other !== found), found]
      return found?.[1]
    },
    put(key: string, output: string) {
      held = held.filter(([other]) => other !== key)
      if (sizeOf([[key, output]]) > bounds.charactersMax) return
      held.push([key, output])
      while (held.length > bounds.answersMax || sizeOf(held) > bounds.charactersMax) held.shift()
    },
    forget(output: string) {
      held = held.filter(([, other]) => other !== output)
    },
  }
}

describe('the cache of a skill client', () => {
  it('stays within its limits, and keeps the most recently used responses', () => {
    const keys = fc.constantFrom(...'abcdefg')
    const outputs = fc.string({ maxLength: 70, unit: fc.constantFrom('x', 'y') })
    const step = fc.record({ act: fc.constantFrom('get', 'put', 'put', 'forget'), key: keys, output: outputs })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const cache = createAnswerCache(bounds)
        const model = createModel()
        const found = steps.map(({ act, key, output }) => {
          if (act === 'get') return [cache.get(key)?.output, model.get(key)]
          if (act === 'forget') return [cache.forget(output), model.forget(output)]
          return [cache.put(key, answerOf(output)), model.put(key, output)]
        })
        const left = [...'abcdefg'].map((key) => [cache.get(key)?.output, model.get(key)])
        const all = [...found, ...left]
        expect(all.map(([actual]) => actual)).toEqual(all.map(([, expected]) => expected))
      }),
    )
  })

  it('returns copies that equal the cached response and share no mutable data with it', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const value: unknown[] = [JSON.parse(text), {}]
        const copy = copyJson(value)
        expect(JSON.stringify(copy)).toBe(JSON.stringify(value))
        expect(copy).not.toBe(value)
        expect(copy[1]).not.toBe(value[1])
      }),
    )
    const odd = copyJson(JSON.parse('{"__proto__": {"a": 1}}')) as { a?: number }
    expect(odd.a).toBeUndefined()
    expect(Object.hasOwn(odd, '__proto__')).toBe(true)
  })
})
