import { createHash } from 'node:crypto'
import { listenNode, type ListenOptions } from '@skillstead/server'
import { expect, onTestFinished } from 'vitest'
import type { TestRegistry } from './harness.ts'
import { steady } from './steady.ts'

/** An index as installers read it. */
interface Index {
  readonly $schema: string
  readonly skills: { name: string; type: string; description: string; url: string; digest: string }[]
}

/** What installers ask a node. */
export interface Installer {
  readonly url: string
  /** Any address of the node; redirects are not followed. */
  get(path: string, init?: RequestInit): Promise<Response>
  /** The answer for the index of a scope, such as `/alice/pdf`; the root's is that of the empty one. */
  ask(scope: string, init?: RequestInit): Promise<Response>
  /** The index of a scope, which must be there. */
  index(scope: string): Promise<Index>
  /** The names in the index of a scope, or the status where there is none. */
  names(scope: string): Promise<string[] | number>
  /** The file of an entry, by the address in the index, which must have the digest that the index says. */
  download(scope: string, name: string, init?: RequestInit): Promise<Response>
}

export const folder = '/.well-known/agent-skills'

/** A node of its own for the registry of a test; it ends with the test. */
export async function serve(test: TestRegistry, options: ListenOptions = {}): Promise<Installer> {
  const node = await listenNode(test.registry, { port: 0, ...steady, graceMs: 1000, ...options })
  onTestFinished(() => node.close())
  const get = (path: string, init?: RequestInit) => fetch(new URL(path, node.url), { redirect: 'manual', ...init })
  const ask = (scope: string, init?: RequestInit) => get(`${scope}${folder}/index.json`, init)

  async function index(scope: string): Promise<Index> {
    const response = await ask(scope)
    expect(response.status, await response.clone().text()).toBe(200)
    return (await response.json()) as Index
  }

  return {
    url: node.url,
    get,
    ask,
    index,
    async names(scope) {
      const response = await ask(scope)
      if (response.status !== 200) return response.status
      return ((await response.json()) as Index).skills.map(({ name }) => name)
    },
    async download(scope, name, init) {
      const entry = (await index(scope)).skills.find((skill) => skill.name === name)!
      const response = await get(new URL(entry.url, `${node.url}${scope}${folder}/index.json`).pathname, init)
      if (response.status === 200 && init?.method !== 'HEAD')
        expect(toDigest(new Uint8Array(await response.clone().arrayBuffer()))).toBe(entry.digest)
      return response
    },
  }
}

function toDigest(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}
