import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { toPageHeaders } from '../support/clawhub-acts.ts'
import { makeFolder, skillstead } from '../support/cli-harness.ts'
import { forwardRequest } from '../support/forward-request.ts'
import { startNode } from '../support/server-harness.ts'

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Runs `skillstead login URL` at a terminal without a browser. */
async function login(url: string, ...more: string[]) {
  const config = await makeFolder()
  const stdin = Object.assign(Readable.from([]), { isTTY: true })
  const result = await skillstead(['login', url, ...more], { stdin, env: { XDG_CONFIG_HOME: config } })
  return { ...result, file: join(config, 'skillstead', 'credentials.json') }
}

describe('skillstead login at a terminal', { timeout: 120_000 }, () => {
  it('prints a code, and saves the key that the user allows on the page of the node', async () => {
    const fixture = await startNode()
    const { port } = new URL(fixture.node.url)
    let decided: Promise<Response> | undefined
    const decide = async (userCode: string) => {
      const headers = { 'content-type': 'application/json', ...(await toPageHeaders(fixture, fixture.key)) }
      const post = (action: string, body: object) =>
        fetch(`${fixture.node.url}/api/cli/device/${action}`, { method: 'POST', headers, body: JSON.stringify(body) })
      const shown = await (await post('show', { userCode })).json()
      expect(shown).toMatchObject({ scopes: ['read', 'publish', 'manage'] })
      return post('decide', { userCode, allow: true })
    }
    const url = await listen((request, response) => {
      const write = response.write.bind(response) as (...given: unknown[]) => boolean
      response.write = ((chunk: Uint8Array, ...rest: unknown[]) => {
        const [, code] = /"user_code":"([^"]+)"/.exec(String(Buffer.from(chunk))) ?? []
        if (code) decided = decide(code)
        return write(chunk, ...rest)
      }) as typeof response.write
      forwardRequest(request, response, Number(port))
    })
    const { code, stdout, stderr, file } = await login(url)
    expect((await decided!).status).toBe(200)
    expect(stderr).toMatch(/Open http:\/\/127\.0\.0\.1:\d+\/device and enter the code [A-Z]{4}-[A-Z]{4}\./)
    expect([code, stdout]).toEqual([0, expect.stringContaining(`Logged in to ${url} as alice.`)])
    const saved = JSON.parse(await readFile(file, 'utf8')) as { nodes: Record<string, { key: string }> }
    const { key } = saved.nodes[url]!
    expect(stdout + stderr).not.toContain(key)
    const { apiKeys } = await fixture.api.listApiKeys()
    expect(apiKeys[0]).toMatchObject({ scopes: ['read', 'publish', 'manage'] })
    expect(apiKeys[0]!.name).toMatch(/^signed in: skillstead on ./)
  })

  it.each<[what: string, answers: object[], text: string]>([
    ['the user denies it', [{ error: 'authorization_pending' }, { error: 'access_denied' }], 'was denied'],
    ['the code expires', [{ error: 'expired_token' }], 'expired_token'],
    ['the node refuses', [{ error: 'not_found', error_description: 'No\u001b[2J such page' }], 'such page'],
    ['the node sends no key', [{ access_token: 7 }], 'The sign-in failed'],
  ])('saves nothing if %s', async (_, answers, text) => {
    const begun = {
      device_code: 'x'.repeat(43),
      user_code: 'BCDF-GHJK',
      verification_uri: 'http://x/device',
      interval: 0.1,
    }
    const left = [begun, ...answers]
    const url = await listen((_request, response) => response.end(JSON.stringify(left.shift())))
    const { code, stdout, stderr, file } = await login(url)
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain(text)
    expect(stderr).not.toContain('\u001b')
    await expect(readFile(file)).rejects.toThrow('ENOENT')
  })

  it('reports an address at which no node responds', async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    await new Promise((resolve) => void server.close(resolve))
    const { code, stderr } = await login(`http://127.0.0.1:${port}`)
    expect([code, stderr]).toEqual([1, expect.stringContaining('start the node, or check the port')])
  })

  it.each([
    ['a page', '<html>'],
    ['no code', '{}'],
    ['an error', '{"error":"not_found"}'],
  ])('reports a node that answers with %s', async (_, body) => {
    const url = await listen((_request, response) => response.end(body))
    const { code, stderr } = await login(url)
    expect(code).toBe(1)
    expect(stderr).toContain('did not begin a sign-in')
  })
})
