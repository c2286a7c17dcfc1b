import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient } from '@skillstead/client'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { skillMd } from '../support/answers.ts'
import { skillstead, startServer } from '../support/cli-harness.ts'
import { hasNginx, startNginx } from '../support/nginx.ts'
import { makeEmptyPlace } from '../support/places.ts'

const deploy = join(import.meta.dirname, '../../examples/deploy')

/** The services of compose-postgresql.yaml as processes of this machine: two nodes on a new PostgreSQL, behind nginx. */
async function startServices() {
  const { location, remove } = await makeEmptyPlace('PostgreSQL')
  onTestFinished(remove)
  const { services } = parse(await readFile(join(deploy, 'compose-postgresql.yaml'), 'utf8'))
  const { command, environment } = services.node as { command: string[]; environment: Record<string, string> }
  const secret = Buffer.alloc(32, 7).toString('base64')
  const given: Record<string, string> = { SKILLSTEAD_SECRET_KEY: secret, POSTGRES_PASSWORD: 'unused' }
  const fill = (text: string) =>
    text.replaceAll(/\$\{(\w+)(?::\?|:-([^}]*))\}/g, (_all, name: string, other?: string) => given[name] ?? other ?? '')
  const entries = Object.entries(environment).map(([name, text]) => [name, fill(text)])
  const env: Record<string, string> = {
    ...(Object.fromEntries(entries) as Record<string, string>),
    DATABASE_URL: location.databaseUrl!,
    SKILLSTEAD_TRUSTED_PROXIES: environment['SKILLSTEAD_TRUSTED_PROXIES']!.replace('172.28.0.0/24', '127.0.0.1/32'),
  }
  const start = () => startServer(command, { env: { ...env, HOST: '127.0.0.1', PORT: '0' } })
  const nodes = [await start(), await start()]
  const upstream = nodes.map(({ url }) => `server ${new URL(url).host};`).join(' ')
  const file = await readFile(join(deploy, 'nginx-proxy.conf'), 'utf8')
  expect(file).toContain('set $node http://node:7545;')
  const url = await startNginx(
    (port) =>
      `upstream node { ${upstream} }\n${file.replace('listen 8080;', `listen 127.0.0.1:${port};`).replace('http://node:7545;', 'http://node;')}`,
  )
  return { url, nodes, publicUrl: env['SKILLSTEAD_PUBLIC_URL']! }
}

const send = (url: string, body: object, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

describe.skipIf(!hasNginx)(`the services of a Compose file${hasNginx ? '' : ': nginx is not installed here'}`, () => {
  it('are healthy, and the first user can set up an account, publish and sign in through nginx', async () => {
    const { url, nodes, publicUrl } = await startServices()
    for (const node of nodes) {
      const health = () => skillstead(['health'], { env: { PORT: new URL(node.url).port } })
      await expect.poll(health).toMatchObject({ code: 0, stdout: `${node.url}: ready\n` })
    }
    const [, address, code] = /at (\S+) with the code (\S+)/.exec(nodes[0]!.said()) ?? []
    expect(address).toBe(`${publicUrl}/account/setup`)
    const created = await send(`${url}/api/v1/setup`, { code, username: 'anna' })
    expect(created.status).toBe(201)
    const { key } = (await created.json()) as { key: string }

    const published = await createClient({ baseUrl: url, apiKey: key }).publishSkill({ skillMd: skillMd('tea') })
    expect(published).toMatchObject({ version: { version: '1.0.0' } })
    for (const { url: own } of nodes)
      await expect.poll(async () => (await fetch(`${own}/api/v1/skills/anna%2Ftea`)).status).toBe(200)

    const signedIn = await send(`${url}/api/v1/session`, {}, { authorization: `Bearer ${key}` })
    const cookie = signedIn.headers.get('set-cookie')!.split(';', 1)[0]!
    const page = { cookie, 'x-skillstead-session': '1', origin: publicUrl, 'sec-fetch-site': 'same-origin' }
    // nginx takes the nodes in turn: a session counts on both.
    for (const _ of nodes) {
      const me = await fetch(`${url}/api/v1/users/me`, { headers: page })
      expect([me.status, await me.json()]).toEqual([200, expect.objectContaining({ username: 'anna' })])
    }
    expect(await (await fetch(`${url}/skills/anna/tea`)).text()).toContain('/assets/')
  })
})
