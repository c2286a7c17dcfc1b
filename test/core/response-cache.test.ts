import { expect, it } from 'vitest'
import { EncodedJson } from '@skillstead/core/internal'
import { createResponseCache } from '../../packages/core/src/kernel/response-cache.ts'

const bytesMax = 3200
const responseBytes = 100

function fill(count: number) {
  const cache = createResponseCache(bytesMax)
  const answers = Array.from({ length: count }, (_, n) => new EncodedJson(`"${n}"`.padEnd(responseBytes), `"${n}"`))
  for (const [n, answer] of answers.entries()) cache.put(`/${n}`, `subject-${n}`, answer)
  return { cache, answers }
}

it('keeps the newest responses within its size', () => {
  const { cache, answers } = fill(100)
  const kept = answers.filter((answer, n) => cache.get(`/${n}`) === answer)
  expect(kept).toHaveLength(bytesMax / responseBytes)
  expect(answers.filter(({ isCached }) => isCached)).toEqual(kept)
})

it('has room again after a subject changed', () => {
  const { cache, answers } = fill(32)
  cache.forget('subject-3')
  expect(answers.map(({ isCached }) => isCached)).toEqual(answers.map((_, n) => n !== 3))
  cache.put('/3', 'subject-3', answers[3]!)
  expect(answers.every((answer, n) => cache.get(`/${n}`) === answer)).toBe(true)
})
