import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createAddressLimits } from '../../packages/core/src/accounts/address-limits.ts'
import { refusalOf } from '../support/answers.ts'

const hourMs = 60 * 60 * 1000
const here = '203.0.113.1'

describe('what one address may do in an hour', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('is refused beyond that, with the time that is left, and given anew after it', async () => {
    const limits = createAddressLimits()
    for (let i = 0; i < 10; i++) await limits.require('vote', here, 'one')
    vi.advanceTimersByTime(hourMs - 90_000)
    const refusal = await refusalOf(limits.require('vote', here, 'one'))
    expect(refusal).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 90 })
    expect(await limits.take('vote', here, 'one')).toBe(false)
    vi.advanceTimersByTime(90_000)
    expect(await limits.take('vote', here, 'one')).toBe(true)
  })

  it('is apart for each address, deed and subject, and does not bound the operator’s own code', async () => {
    const limits = createAddressLimits()
    for (let i = 0; i < 20; i++) await limits.take('vote', here, 'one')
    expect(await limits.take('vote', here, 'one')).toBe(false)
    expect(await limits.take('vote', here, 'two')).toBe(true)
    expect(await limits.take('vote', '203.0.113.2', 'one')).toBe(true)
    expect(await limits.take('report', here, 'one')).toBe(true)
    for (let i = 0; i < 1000; i++) expect(await limits.take('vote', undefined, 'one')).toBe(true)
  })
})
