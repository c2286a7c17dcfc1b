import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, describe, onTestFinished } from 'vitest'
import { hasNginx, startNginx } from '../support/nginx.ts'
import { json, startNode } from '../support/server-harness.ts'

const deploy = join(import.meta.dirname, '../../examples/deploy')

/** The example in front of a node, with the program that refreshes it. */
async function startCache() {
  const fixture = await startNode({ trustedProxies: ['127.0.0.1/32'] })
  const example = await readFile(join(deploy, 'nginx-cache.conf'), 'utf8')
  const url = await startNginx((port, folder) =>
    example
      .replace('server 127.0.0.1:7545;', `server 127.0.0.1:${fixture.node.port};`)
      .replace('/var/cache/nginx/skillstead', join(folder, 'cache'))
      // Only a refresh can replace what is stored.
      .replace('proxy_cache_valid 200 60s;', 'proxy_cache_valid 200 1h;')
      .replace('listen 8080;', `listen 127.0.0.1:${port};`),
  )
  const following = spawn(process.execPath, [join(deploy, 'refresh-cache.ts'), fixture.node.url, url])
  onTestFinished(async () => {
    const ended = once(following, 'exit')
    if (following.kill()) await ended
  })
  await once(following.stdout, 'data')
  const ask = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(url + path, { headers })
    const body = await response.text()
    return { status: response.status, from: response.headers.get('x-cache'), headers: response.headers, body }
  }
  return { ...fixture, url, ask }
}

/** Until it holds; a refused connection counts as not yet. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds().catch(() => false))) await sleep(50)
}

const details = '/api/v1/skills/alice%2Fpdf'

describe.skipIf(!hasNginx)(
  `the example of nginx in front of a node${hasNginx ? '' : ': nginx is not installed here'}`,
  () => {
    it('answers guests from the cache, and revalidates by entity tag', async () => {
      const { ask } = await startCache()
      const [first, second] = [await ask(details), await ask(details)]
      expect([first, second].map(({ status, from }) => [status, from])).toEqual([
        [200, 'MISS'],
        [200, 'HIT'],
      ])
      expect(second.body).toBe(first.body)
      expect(second.headers.get('cache-control')).toBe('no-cache')
      const etag = second.headers.get('etag')!
      expect(await ask(details, { 'if-none-match': etag })).toMatchObject({ status: 304, from: 'HIT', body: '' })
    })

    it('stores no responses to callers with a key, a cookie or a token, and no private responses', async () => {
      const { ask, key, api } = await startCache()
      await api.publishSkill({
        skillMd: '---\nname: plan\ndescription: Secret plan\n---\n# Plan\n',
        visibility: 'private',
      })
      const secret = '/api/v1/skills/alice%2Fplan'
      const authorization = `Bearer ${key}`
      expect(await ask(secret, { authorization })).toMatchObject({ status: 200, from: 'DIRECT' })
      const guest = await ask(secret)
      expect(guest).toMatchObject({ status: 404 })
      expect(guest.body).not.toContain('Secret')
      for (const name of ['cookie', 'x-share-token', 'x-agent-token'])
        expect((await ask(details, { [name]: 'a=b' })).from, name).toBe('DIRECT')
      for (const path of ['/api/v1/feed', '/readyz', '/'])
        expect([(await ask(path)).from, (await ask(path)).from], path).not.toContain('HIT')
    })

    it('shows a new version and hides a deleted skill as soon as the feed reports the change', async () => {
      const { ask, api } = await startCache()
      expect((await ask(details)).body).toContain('"version":"1.0.0"')
      await api.publishSkill({
        skillMd: '---\nname: pdf\ndescription: Reads PDF files fast\n---\n# PDF\n',
        version: '2.0.0',
      })
      await until(async () => (await ask(details)).body.includes('Reads PDF files fast'))
      expect((await ask(details)).from).toBe('HIT')
      await api.deleteSkill({ name: 'pdf' })
      await until(async () => (await ask(details)).status === 404)
      expect((await ask(details)).body).not.toContain('Reads PDF')
    })

    it('caches other spellings of a URL only briefly, and lets only the local machine refresh the cache', async () => {
      const { ask, api } = await startCache()
      const others = [
        '/api/v1/skills/alice%2fpdf',
        '/api/v1/skills/alice/pdf',
        '/api/v1/skills/%61lice%2Fpdf',
        `${details}?`,
      ]
      for (const path of others) expect((await ask(path)).status, path).toBe(200)
      await api.deleteSkill({ name: 'pdf' })
      for (const path of others) await until(async () => (await ask(path)).status === 404)
      const config = await readFile(join(deploy, 'nginx-cache.conf'), 'utf8')
      expect(config).toMatch(/map "\$remote_addr \$http_x_cache_refresh" \S+ \{ default 0; "127\.0\.0\.1 1" 1; \}/)
    })

    it('passes on writes, with the address of the client', async () => {
      const { url, key } = await startCache()
      const headers = { ...json({}).headers, authorization: `Bearer ${key}` }
      const response = await fetch(`${url}/api/v1/skills/pdf/star`, { method: 'PUT', headers })
      expect([response.status, response.headers.get('x-cache')]).toEqual([200, 'DIRECT'])
    })
  },
)
