import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient } from '@skillstead/client'
import { localApi } from '@skillstead/core'
import { expect } from 'vitest'
import { findDashboard } from '../../packages/cli/src/serving/dashboard-files.ts'
import { ensureBuilt } from './browser-windows.ts'
import { makeFolder, skillstead } from './cli-harness.ts'
import { openGit } from './git-program.ts'
import { npm } from './npm-program.ts'
import type { PathMode, PathProxy } from './path-proxy.ts'
import { json, startNode, type Fixture } from './server-harness.ts'

/** A node that is published below a path. */
export interface Published extends Fixture {
  /** The public URL. */
  readonly url: string
  readonly origin: string
  readonly path: string
}

type OpenProxy = (path: string, mode: PathMode) => Promise<PathProxy>

/** Starts a node behind a proxy, until the end of the test. `ending` is what follows the path in `publicUrl`. */
export async function publishBelow(
  open: OpenProxy,
  mode: PathMode,
  {
    path = '/skills',
    ending = '',
    ...options
  }: { path?: string; ending?: string } & Parameters<typeof startNode>[0] = {},
): Promise<Published> {
  await ensureBuilt()
  const { origin, aim } = await open(path, mode)
  const url = origin + path
  const fixture = await startNode({ publicUrl: url + ending, dashboard: findDashboard(), ...options })
  await aim(fixture.node.port)
  return { ...fixture, url, origin, path }
}

/** What clients do with a node below a path, by title. */
export const pathActs: Record<string, (node: Published) => Promise<void>> = {
  async 'serves the dashboard with its files below the path'({ url, path }) {
    const pages = ['/', '/?q=pdf', '/skills/alice/pdf', '/skills/alice/pdf/files', '/packs', '/account/keys']
    for (const page of [...pages, '/docs', '/docs/deploy', '/docs/api', '/docs/api/getSkill']) {
      const response = await fetch(url + page, { headers: { accept: 'text/html' } })
      expect(response.status, page).toBe(200)
      expect(response.headers.get('content-security-policy')).toContain("base-uri 'none'")
      const references = [...(await response.text()).matchAll(/ (?:href|src)="([^"]+)"/g)].map(([, to]) => to!)
      expect(references.length).toBeGreaterThan(3)
      for (const to of references) {
        expect(to.startsWith(`${path}/`) || to.startsWith(`${url}/`), to).toBe(true)
        expect((await fetch(new URL(to, url))).status, to).toBe(200)
      }
    }
    expect((await fetch(`${url}/assets/missing.js`)).status).toBe(404)
  },
  async 'serves the guides and the OpenAPI document with its own address'({ url }) {
    expect(await (await fetch(`${url}/docs/guides/deploy.md`)).text()).toContain('# Deploying a node')
    const document = await (await fetch(`${url}/openapi.json`)).json()
    expect(document.servers).toEqual([{ url: `${url}/api/v1` }])
    expect(document.components.securitySchemes.session.name).toBe('__Secure-skillstead-session')
  },
  async 'serves the API, pictures and problem documents'({ url }) {
    const api = createClient({ baseUrl: url })
    const skill = await api.getSkill({ name: 'alice/pdf' })
    expect(skill.author.avatarUrl).toBe(`${url}/api/v1/users/alice/avatar`)
    expect((await fetch(skill.author.avatarUrl)).status).toBe(200)
    // Proxies that strip the path may decode the slash of a name.
    expect((await fetch(`${url}/api/v1/skills/alice%2Fpdf`)).status).toBe(200)
    expect((await createClient({ baseUrl: `${url}/api/v1/` }).getSkill({ name: 'pdf' })).fullName).toBe('alice/pdf')
    const unknown = await fetch(`${url}/api/v1/nothing`, { headers: { accept: 'text/html' } })
    expect([unknown.status, unknown.headers.get('content-type')]).toEqual([404, 'application/problem+json'])
  },
  async 'keeps the session cookie to the path, and refuses pages of other origins'({ url, origin, path, key }) {
    const own = { origin, 'sec-fetch-site': 'same-origin', 'x-skillstead-session': '1' }
    const headers = { ...own, authorization: `Bearer ${key}` }
    const { headers: answered } = await fetch(`${url}/api/v1/session`, { method: 'POST', headers })
    const cookie = answered.get('set-cookie')!
    expect(cookie).toMatch(/^skillstead-session=/)
    expect(cookie.split('; ')).toContain(`Path=${path}`)
    const session = cookie.slice(0, cookie.indexOf(';'))
    const me = await fetch(`${url}/api/v1/users/me`, { headers: { ...own, cookie: session } })
    expect(me.status).toBe(200)
    const foreign = { ...own, cookie: session, origin: 'http://elsewhere.example', 'sec-fetch-site': 'cross-site' }
    expect((await fetch(`${url}/api/v1/session`, { method: 'DELETE', headers: foreign })).status).toBe(403)
    const ended = await fetch(`${url}/api/v1/session`, { method: 'DELETE', headers: { ...own, cookie: session } })
    expect(ended.headers.get('set-cookie')).toContain(`Path=${path};`)
  },
  async 'redirects from a former name to an address that works'(node) {
    const { url, path, api, registry, createUser } = node
    await createUser('bob')
    await api.transferSkill({ name: 'alice/pdf', newOwner: 'bob' })
    await localApi(registry, await registry.getCaller('bob')).acceptTransfer({ name: 'alice/pdf' })
    const moved = [
      ['/api/v1/skills/alice%2Fpdf/skill.md', '/api/v1/skills/bob%2Fpdf/skill.md'],
      ['/git/alice/pdf.git/info/refs?service=git-upload-pack', '/git/bob/pdf.git/info/refs?service=git-upload-pack'],
      ['/alice/pdf/.well-known/agent-skills/index.json', '/bob/pdf/.well-known/agent-skills/index.json'],
    ]
    for (const [from, to] of moved) {
      const response = await fetch(url + from, { redirect: 'manual' })
      expect([response.status, response.headers.get('location')]).toEqual([308, path + to])
      expect((await fetch(url + from)).status, from).toBe(200)
    }
    expect((await createClient({ baseUrl: url, apiKey: node.key }).getSkill({ name: 'alice/pdf' })).fullName).toBe(
      'bob/pdf',
    )
  },
  async 'serves git'({ url }) {
    const git = await openGit()
    await git.run('clone', '-q', `${url}/git/alice/pdf.git`)
    await git.run('clone', '-q', '--depth', '1', `${url}/git/alice.git`, 'all')
    expect(await readFile(join(git.folder, 'pdf/SKILL.md'), 'utf8')).toContain('Reads PDF files')
    expect(await readFile(join(git.folder, 'all/skills/pdf/SKILL.md'), 'utf8')).toContain('Reads PDF files')
  },
  async 'serves npm'({ url }) {
    const folder = await makeFolder()
    const args = ['install', '@alice/pdf', `--@alice:registry=${url}/npm/`, '--no-audit', '--no-fund']
    const { code, stderr } = await npm.run(args, { cwd: folder, env: {} })
    expect([code, stderr]).toEqual([0, ''])
    expect(await readFile(join(folder, 'node_modules/@alice/pdf/SKILL.md'), 'utf8')).toContain('Reads PDF files')
  },
  async 'serves OCI at the root of the host and below the path'({ url, origin, path, api }) {
    for (const version of ['1.1.0', '1.2.0']) await api.publishSkill({ name: 'pdf', skillMd: toPdf(version), version })
    for (const base of [origin, url]) {
      // The challenge, at which clients send what they have.
      expect((await fetch(`${base}/v2/`)).status).toBe(401)
      let next: string | undefined = `${base}/v2/alice/pdf/tags/list?n=1`
      const tags: string[] = []
      while (next !== undefined) {
        const response: Response = await fetch(next)
        expect(response.status, next).toBe(200)
        tags.push(...((await response.json()) as { tags: string[] }).tags)
        const link: string | undefined = /^<([^>]+)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1]
        if (link !== undefined) expect(link.startsWith(`${path}/v2/alice/pdf/tags/list?`), link).toBe(true)
        next = link && new URL(link, next).href
      }
      expect(tags).toEqual(expect.arrayContaining(['1.0.0', '1.1.0', '1.2.0']))
    }
  },
  async 'serves indexes, whose addresses work'({ url, origin, api }) {
    await api.createPack({ slug: 'office', name: 'Office', description: 'For the office', skills: ['alice/pdf'] })
    const { token } = await api.createShare({ name: 'alice/pdf' })
    for (const scope of ['/alice', '/alice/pdf', '/alice/pdf@1.0.0', `/t/${token}`]) {
      for (const folder of ['agent-skills', 'skills']) {
        const index = `${url}${scope}/.well-known/${folder}/index.json`
        const response = await fetch(index)
        expect(response.status, index).toBe(200)
        const { skills } = (await response.json()) as { skills: { url?: string; name: string; files?: string[] }[] }
        expect(skills.map(({ name }) => name)).toEqual(['pdf'])
        const [{ url: file = `pdf/${skills[0]!.files?.[0]}` } = {} as { url?: string }] = skills
        expect((await fetch(new URL(file, index))).status, `${index}: ${file}`).toBe(200)
      }
    }
    const found = await (await fetch(`${url}/api/search?q=pdf`)).text()
    expect(found).toContain(`"${url}/alice/pdf`)
    expect(found.replaceAll(url, '')).not.toContain(origin)
  },
  async 'serves clawhub and its sign-in'({ url }) {
    const discovery = await fetch(`${url}/.well-known/clawhub.json`)
    expect(await discovery.json()).toMatchObject({ apiBase: `${url}/clawhub` })
    const found = await (await fetch(`${url}/clawhub/api/v1/search?q=pdf`)).json()
    expect(JSON.stringify(found)).toContain('pdf')
    const device = await fetch(`${url}/api/cli/device/code`, json({ label: 'laptop' }))
    const { verification_uri: page } = (await device.json()) as { verification_uri: string }
    expect(page.startsWith(`${url}/`), page).toBe(true)
    expect((await fetch(page, { headers: { accept: 'text/html' } })).status).toBe(200)
  },
  async 'serves MCP'({ url, origin }) {
    const message = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'search_skills', arguments: { query: 'pdf' } },
    }
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', origin }
    const response = await fetch(`${url}/mcp`, { method: 'POST', headers, body: JSON.stringify(message) })
    expect(response.status).toBe(200)
    expect(await response.text()).toContain('alice/pdf')
  },
  async 'is an upstream of the command line'({ url, key }) {
    const cwd = await makeFolder()
    const installed = await skillstead(['install', 'alice/pdf', '--url', `${url}/`], { cwd })
    expect([installed.code, installed.stderr]).toEqual([0, expect.any(String)])
    expect(await readFile(join(cwd, '.agents/skills/pdf/SKILL.md'), 'utf8')).toContain('Reads PDF files')
    const shown = await skillstead(['search', 'pdf', '--url', url, '--key', key, '--json'])
    expect(shown.stdout).toContain('alice/pdf')
  },
}

const toPdf = (version: string) =>
  `---\nname: pdf\ndescription: Reads PDF files\n---\n# PDF ${version}\n\nReads them.\n`
