import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { partsOf } from '@skillstead/core/internal'
import { findUpstream } from '@skillstead/mirror'
import { describe, expect, it } from 'vitest'
import type { FindUpstreamParts } from '../../packages/mirror/src/find-upstream.ts'
import { makeFolder } from '../support/cli-harness.ts'
import { startNode } from '../support/server-harness.ts'
import { openSpecRegistry } from '../support/spec-registry.ts'
import { openStandIn } from '../support/stand-in.ts'

/** Answers paths with texts, and everything else with 404. */
async function openPages(pages: Record<string, { type: string; text: string; status?: number }>) {
  return openStandIn((request, response) => {
    const page = pages[request.url!.split('?')[0]!]
    response.writeHead(page ? (page.status ?? 200) : 404, { 'content-type': page?.type ?? 'text/plain' })
    response.end(page?.text ?? '')
  })
}

describe('the detected kind of an upstream URL', () => {
  it("is `node`, with the node's key, if the server has a signed log, even if the URL ends with /api/v1", async () => {
    const { node, registry } = await startNode()
    for (const address of [node.url, `${node.url}/`, `${node.url}/api/v1`]) {
      const found = await findUpstream(address)
      expect(found).toMatchObject({ kind: 'node', keys: [expect.stringContaining(`${partsOf(registry).origin}+`)] })
      expect(found.problem).toBeUndefined()
    }
  })

  it('is `node` for a private node if an API key is passed', async () => {
    const { node, key } = await startNode({ requireKey: true })
    await expect(findUpstream(node.url)).rejects.toThrow('The server requires an API key: pass --api-key KEY.')
    expect(await findUpstream(node.url, { apiKey: key })).toMatchObject({ kind: 'node' })
  })

  it('is `registry` if the server only lists skills', async () => {
    const registry = await openSpecRegistry(Date.now)
    registry.put('anna', 'tea')
    expect(await findUpstream(registry.url)).toEqual({ kind: 'registry', keys: [] })
  })

  it('is `discovery` if one of the two well-known addresses has an index', async () => {
    for (const folder of ['agent-skills', 'skills']) {
      const text = '{"skills":[]}'
      const { url } = await openPages({ [`/.well-known/${folder}/index.json`]: { type: 'application/json', text } })
      expect(await findUpstream(url)).toEqual({ kind: 'discovery', keys: [] })
    }
  })

  it('is `git` for a repository that can be cloned', async () => {
    const type = 'application/x-git-upload-pack-advertisement'
    const { url } = await openPages({ '/team/skills/info/refs': { type, text: '001e# service=git-upload-pack\n0000' } })
    expect(await findUpstream(`${url}/team/skills`)).toEqual({ kind: 'git', keys: [] })
  })

  it('is `unknown` for other websites, with an error message', async () => {
    const page = { type: 'text/html', text: '<html>Sign in to this network</html>' }
    const paths = ['/api/v1/checkpoint', '/api/v1/skills', '/.well-known/skills/index.json', '/info/refs']
    const { url } = await openPages(Object.fromEntries(paths.map((path) => [path, page])))
    await expect(findUpstream(url)).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringMatching(/^There is no Skillstead node, .* at http.* or pass --kind\.$/),
    })
  })

  it('is `node`, with an error, if the server does not respond', async () => {
    const { url } = await openPages({ '/api/v1/checkpoint': { type: 'text/plain', text: '', status: 503 } })
    expect(await findUpstream(url)).toMatchObject({
      kind: 'node',
      keys: [],
      problem: `${url} responds with status 503.`,
    })
    const away = await openPages({})
    await away.close()
    expect(await findUpstream(away.url)).toMatchObject({
      kind: 'node',
      keys: [],
      problem: expect.stringContaining('refused the connection'),
    })
  })

  it('is determined without a request if the URL is a path or not an HTTP URL', async () => {
    const folder = await makeFolder()
    const fetch = (() => expect.unreachable('No request was expected')) as unknown as typeof globalThis.fetch
    const options: FindUpstreamParts = { fetch }
    await mkdir(join(folder, 'plain'))
    await promisify(execFile)('git', ['init', '--quiet', join(folder, 'repository')])
    expect(await findUpstream(join(folder, 'plain'), options)).toEqual({ kind: 'folder', keys: [] })
    expect(await findUpstream(join(folder, 'repository'), options)).toEqual({ kind: 'git', keys: [] })
    expect(await findUpstream('git@example.com:team/skills', options)).toEqual({ kind: 'git', keys: [] })
  })

  it('is returned with an error message if the server is unreachable, even if the operator passed the kind', async () => {
    const asked: string[] = []
    const fetch = (async (input: URL) => {
      asked.push(input.href)
      return new Response('Not found', { status: 404 })
    }) as typeof globalThis.fetch
    const refused = (async () => {
      throw Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } })
    }) as typeof globalThis.fetch
    const problem =
      'The request to https://example.com failed: the host refused the connection. Check that the server is running.'
    for (const [location, kind] of [
      ['https://ann:secret@example.com/team/skills.git', 'git'],
      ['https://example.com/skills', 'registry'],
      ['https://example.com/.well-known/skills/index.json', 'discovery'],
    ] as const) {
      const find = (options: FindUpstreamParts) => findUpstream(location, options)
      expect(await find({ fetch, kind })).toEqual({ kind, keys: [] })
      expect(await find({ fetch: refused, kind })).toEqual({ kind, keys: [], problem })
    }
    expect(asked).toEqual([
      'https://example.com/team/skills.git/info/refs?service=git-upload-pack',
      'https://example.com/skills',
      'https://example.com/.well-known/skills/index.json',
    ])
  })
})
