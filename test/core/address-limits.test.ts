import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createAddressLimits } from '../../packages/core/src/accounts/address-limits.ts'
import { refusalOf } from '../support/answers.ts'

const hourMs = 60 * 60 * 1000
const here = '203.0.113.1'

describe('the hourly limit of an IP address', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('refuses calls over the limit with the time until the reset, and is reset after an hour', async () => {
    const limits = createAddressLimits()
    for (let i = 0; i < 10; i++) await limits.require('vote', here, 'one')
    vi.advanceTimersByTime(hourMs - 90_000)
    const refusal = await refusalOf(limits.require('vote', here, 'one'))
    expect(refusal).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 90 })
    expect(await limits.take('vote', here, 'one')).toBe(false)
    vi.advanceTimersByTime(90_000)
    expect(await limits.take('vote', here, 'one')).toBe(true)
  })

  it('makes callers wait at most an hour, even after the clock was set back', async () => {
    const limits = createAddressLimits()
    for (let i = 0; i < 10; i++) await limits.require('vote', here, 'one')
    vi.setSystemTime(Date.now() - 365 * 24 * hourMs)
    const refusal = await refusalOf(limits.require('vote', here, 'one'))
    expect(refusal).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 3600 })
  })

  it('is counted separately for each address, action and target, and never applies to calls without an address', async () => {
    const limits = createAddressLimits()
    for (let i = 0; i < 20; i++) await limits.take('vote', here, 'one')
    expect(await limits.take('vote', here, 'one')).toBe(false)
    expect(await limits.take('vote', here, 'two')).toBe(true)
    expect(await limits.take('vote', '203.0.113.2', 'one')).toBe(true)
    expect(await limits.take('report', here, 'one')).toBe(true)
    for (let i = 0; i < 1000; i++) expect(await limits.take('vote', undefined, 'one')).toBe(true)
  })
})
