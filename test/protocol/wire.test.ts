import { RegistryError, endpoints, type Endpoint } from '@skillstead/protocol'
import { RegistryError as WireError, parseWireLine, wire } from '@skillstead/protocol/wire'
import { describe, expect, it } from 'vitest'

const rows = Object.entries(endpoints as Record<string, Endpoint>)

describe('the module @skillstead/protocol/wire', () => {
  it('lists exactly the endpoints of the endpoint table', () => {
    const expected = rows.map(([name, { method, path, kind, uploads, reads }]) => [
      name,
      { method, path, reads, isContent: kind === 'content', takesUploads: uploads !== undefined },
    ])
    const actual = Object.entries(wire).map(([name, line]) => [name, parseWireLine(line)])
    expect(Object.fromEntries(actual)).toEqual(Object.fromEntries(expected))
  })

  it('has no endpoint with both content and uploads, and no path with a space', () => {
    expect(rows.filter(([, { kind, uploads }]) => kind === 'content' && uploads)).toEqual([])
    expect(rows.filter(([, { path }]) => path.includes(' '))).toEqual([])
  })

  it('exports the same error class as the protocol', () => {
    expect(WireError).toBe(RegistryError)
  })
})
