import type { GatewayName, GatewayRoute } from '@skillstead/gateways'
import { createNode } from '@skillstead/server'
import { describe, expect, it } from 'vitest'
import { startNode } from '../support/server-harness.ts'

const index = '/.well-known/agent-skills/index.json'

describe('gateways of a node', () => {
  it('are all on by default', async () => {
    const { node } = await startNode()
    expect((await fetch(`${node.url}/alice${index}`)).status).toBe(200)
    expect((await fetch(`${node.url}/mcp`)).status).toBe(405)
  })

  it('can be chosen; the other gateways respond like unknown addresses', async () => {
    const { node } = await startNode({ gateways: ['mcp'] })
    expect((await fetch(`${node.url}/alice${index}`)).status).toBe(404)
    expect((await fetch(`${node.url}/mcp`)).status).toBe(405)
  })

  it('cannot be chosen by a name that is not a gateway', async () => {
    const { registry } = await startNode({ gateways: [] })
    expect(() => createNode(registry, { gateways: ['gopher' as GatewayName] })).toThrow('`gopher` is not a gateway.')
  })
})

const answer = () => ({ status: 204, body: null })

describe('a route of a gateway', () => {
  it('does not compile unless it declares a request allowance', () => {
    const named = { pattern: '/', endpoint: 'root', methods: ['GET'], answer }
    const routes: GatewayRoute[] = [
      { ...named, admission: 'files' },
      // @ts-expect-error A route must name what a request spends.
      named,
      // @ts-expect-error Only health checks and metrics spend nothing.
      { ...named, admission: 'probe' },
    ]
    expect(routes).toHaveLength(3)
  })
})
