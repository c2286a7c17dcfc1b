import { createNode } from '@skillstead/server'
import { describe, expect, it } from 'vitest'
import { makeFolder, skillstead } from '../support/cli-harness.ts'
import { openPathProxy, type PathMode } from '../support/path-proxy.ts'
import { pathActs, publishBelow } from '../support/public-path-acts.ts'
import { sendRaw, startNode } from '../support/server-harness.ts'

const modes: readonly PathMode[] = ['strips', 'keeps']

describe.each(modes)('a node below a path, behind a proxy that %s it,', (mode) => {
  it.each(Object.entries(pathActs))('%s', async (_, act) => {
    expect.hasAssertions()
    await act(await publishBelow(openPathProxy, mode))
  })

  it.each([
    ['of several segments', '/tools/agent.skills', '/'],
    ['that ends in slashes', '/registry', '//'],
    ['that begins like a path of the node', '/api', ''],
    ['that is named like a page', '/users', '/'],
  ])('has pages, an API and git at a path %s', async (_, path, ending) => {
    const { url } = await publishBelow(openPathProxy, mode, { path, ending })
    for (const place of ['/', '/skills/alice/pdf', '/users/alice', '/api/v1/skills/pdf', '/docs', '/healthz']) {
      expect((await fetch(url + place)).status, place).toBe(200)
    }
    const refs = await fetch(`${url}/git/alice/pdf.git/info/refs?service=git-upload-pack`)
    expect(refs.status).toBe(200)
    expect(await (await fetch(`${url}/`)).text()).toContain(`src="${path}/assets/`)
    expect((await fetch(`${url}/git/nothing/here`)).status).toBe(404)
  })
})

describe('a request to a node below a path', () => {
  const publicUrl = 'https://intranet.example/skills'

  it.each([
    ['GET /skills HTTP/1.1', 200],
    ['GET /skills?q=x HTTP/1.1', 200],
    ['GET /skills/openapi.json HTTP/1.1', 200],
    ['GET /openapi.json HTTP/1.1', 200],
    ['GET http://intranet.example/skills/openapi.json HTTP/1.1', 200],
    ['GET /skillset/docs HTTP/1.1', 404],
    ['GET /skills/skills/openapi.json HTTP/1.1', 404],
    ['GET /skills//docs HTTP/1.1', 404],
    ['GET /skills/%zz HTTP/1.1', 400],
    ['GET /skills/../openapi.json HTTP/1.1', 200],
    ['OPTIONS * HTTP/1.1', 204],
  ])('is routed: %s', async (line, status) => {
    const { node } = await startNode({ publicUrl })
    const answer = await sendRaw(node.port, `${line}~Host: intranet.example~Connection: close~~`)
    expect(answer.slice(0, 13)).toBe(`HTTP/1.1 ${status} `)
  })

  it('is routed by a web handler with and without the path, with its body', async () => {
    const { registry, key } = await startNode()
    const node = createNode(registry, { publicUrl })
    try {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      for (const path of ['/skills/api/v1', '/api/v1']) {
        const body = JSON.stringify({ name: `key for ${path.length}` })
        const request = new Request(`https://intranet.example${path}/api-keys`, { method: 'POST', headers, body })
        expect((await node.fetch(request)).status, path).toBe(201)
      }
    } finally {
      node.close()
    }
  })

  it('gets the cached response of a skill with and without the path', async () => {
    const { node } = await startNode({ publicUrl })
    const seen = new Set<string>()
    for (let round = 0; round < 2; round += 1) {
      for (const path of ['/skills/api/v1', '/api/v1']) {
        const response = await fetch(`${node.url}${path}/skills/pdf`)
        expect(response.status).toBe(200)
        seen.add(await response.text())
      }
    }
    expect([...seen]).toEqual([expect.stringContaining(`${publicUrl}/api/v1/users/alice/avatar`)])
  })
})

describe('a public URL', () => {
  it.each([
    ['nonsense', 'is not a URL'],
    ['', 'is not a URL'],
    ['ftp://intranet.example/skills', 'begins with neither https:// nor http://'],
    ['localhost:7545', 'begins with neither https:// nor http://'],
    ['https://intranet.example/skills?a=b', 'has a query'],
    ['https://intranet.example/skills?', 'has a query'],
    ['https://intranet.example/skills#top', 'has a fragment'],
    ['https://admin:geheim@intranet.example/', 'has a username or password'],
    ['https://admin@intranet.example/', 'has a username or password'],
    ['https://intranet.example/a;Domain=example', 'has a path with other characters'],
    ['https://intranet.example/a"b', 'has a path with other characters'],
    ['https://intranet.example/caf\u00e9', 'has a path with other characters'],
    ['https://intranet.example/a//b', 'has a path with other characters'],
    ['https://intranet.example/packs', 'has a path at which the node has indexes'],
    ['https://intranet.example/t/skills', 'has a path at which the node has indexes'],
  ])('%s is refused with the expected form', async (publicUrl, problem) => {
    const { registry } = await startNode()
    const create = () => createNode(registry, { publicUrl })
    expect(create).toThrow(TypeError)
    expect(create).toThrow(problem)
    expect(create).toThrow('such as https://skills.example.com or https://intranet.example.com/skills.')
    expect(create).not.toThrow('geheim')
  })

  it.each(['https://skills.example/?a=b', 'https://a:geheim@skills.example'])('%s stops `serve`', async (publicUrl) => {
    const args = ['--data', await makeFolder(), '--port', '0', '--public-url', publicUrl]
    const { code, stdout, stderr } = await skillstead(['serve', ...args])
    expect(code).not.toBe(0)
    expect(stdout + stderr).toContain('Write the address that clients use, such as https://skills.example.com')
    expect(stdout + stderr).not.toContain('geheim')
    expect(stderr.trim().split('\n')).toHaveLength(1)
  })
})
