import * as core from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import { describe, expect, it } from 'vitest'
import { openRegistry } from '../support/open-registry.ts'

describe('the package @skillstead/core', () => {
  it('exports what programs that embed a registry need, and none of its parts', () => {
    expect(Object.keys(core).toSorted()).toEqual([
      'RegistryError',
      'guest',
      'isRegistryError',
      'localApi',
      'openRegistry',
      'policyActions',
      'secretKeyBytes',
      'systemCaller',
      'systemClock',
    ])
  })

  it('gives a registry only operations, without its database, secrets or other parts', async () => {
    const registry = await openRegistry({ path: ':memory:' })
    expect(Object.keys(registry).toSorted()).toEqual([
      'addMetrics',
      'authenticate',
      'authenticateSession',
      'close',
      'endWaits',
      'getCaller',
      'metrics',
      'readiness',
      'verifierKeys',
    ])
    await registry.close()
  })

  it('calls endpoints of a copied registry, and throws a TypeError for an object that is no registry', async () => {
    const registry = await openRegistry({ path: ':memory:' })
    const copy = { ...registry, close: async () => {} }
    expect((await core.localApi(copy).searchSkills({})).total).toBe(0)
    expect(() => partsOf({} as never)).toThrow(TypeError)
    await expect(core.localApi({} as never).searchSkills({})).rejects.toThrow('This is not a registry')
    await registry.close()
  })
})
