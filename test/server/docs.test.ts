import { execFileSync } from 'node:child_process'
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { endpoints, type Endpoint } from '@skillstead/protocol'
import type { StaticFiles } from '@skillstead/server'
import { safeParse } from 'valibot'
import { describe, expect, it } from 'vitest'
import { sendRaw, startNode } from '../support/server-harness.ts'

const root = join(import.meta.dirname, '../..')
const page = '<!doctype html><title>Skillstead</title><div id="app"></div><noscript>x</noscript>'
const guides = Object.fromEntries(
  readdirSync(join(root, 'docs'))
    .filter((file) => /\.(?:md|svg)$/.test(file))
    .map((file) => [`docs/guides/${file}`, readFileSync(join(root, 'docs', file), 'utf8')]),
)
const files: StaticFiles = new Map(
  Object.entries({ 'index.html': page, ...guides }).map(([path, text]) => [path, () => Buffer.from(text)]),
)

async function open(options: Parameters<typeof startNode>[0] = {}) {
  const fixture = await startNode({ dashboard: files, ...options })
  const read = async (path: string) => {
    const response = await fetch(fixture.node.url + path)
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  return { ...fixture, read }
}

/** The code blocks of a Markdown text in a language. */
function readFences(text: string, language: string): string[] {
  return [...text.matchAll(/^```(\w+)\n([^]*?)\n```$/gm)]
    .filter(([, info]) => info === language)
    .map(([, , code]) => code!)
}

describe('the documentation of a node', () => {
  it('has a page for each guide and endpoint, with its own title, description and text without JavaScript', async () => {
    const { read } = await open({ publicUrl: 'https://intranet.example/tools' })
    const titles = new Map<string, string>()
    for (const [path, words] of Object.entries({
      '/docs': '<a href="/tools/docs/air-gap"><bdi>Air-gapped machines</bdi></a>',
      '/docs/deploy': 'nginx',
      '/docs/api': 'GET /api/v1/skills/{name}',
      '/docs/api/getSkill': 'await api.getSkill({',
      '/docs/api/publishSkill': 'curl -X PUT',
    })) {
      const { status, text, headers } = await read(path)
      expect([path, status]).toEqual([path, 200])
      expect(headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'")
      expect(text).toContain(`<link rel="canonical" href="https://intranet.example/tools${path}">`)
      const [, without = ''] = /<noscript>([^]*)<\/noscript>/.exec(text)!
      expect(without, path).toContain(words)
      titles.set(/<title>(.*)<\/title>/.exec(text)![1]!, /name="description" content="([^"]*)"/.exec(text)![1]!)
    }
    expect(titles.size).toBe(5)
    expect(new Set(titles.values()).size).toBe(5)
    expect([...titles.keys()]).toContain('getSkill: Show a skill · Skillstead')
  })

  it('serves the Markdown of each guide', async () => {
    const { read } = await open()
    const guide = await read('/docs/guides/deploy.md')
    expect(guide.text).toBe(guides['docs/guides/deploy.md'])
    expect(guide.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(guide.headers.get('access-control-allow-origin')).toBeNull()
    expect((await read('/docs/guides/figures.svg')).headers.get('content-type')).toBe('image/svg+xml')
    const api = (await read('/docs/guides/api.md')).text
    for (const [name, { method, path, summary }] of Object.entries(endpoints)) {
      expect(api).toContain(`[${name}](api/${name}.md): ${summary}.`)
      const own = await read(`/docs/guides/api/${name}.md`)
      expect([name, own.status]).toEqual([name, 200])
      expect(own.text).toContain(`\`${method} /api/v1${path.replaceAll(/(?:\*\*)?:(\w+)/g, '{$1}')}\``)
    }
    expect((await read('/docs/guides/api/publishSkill.md')).text).toContain(
      '- `files` (body): `{ path: string; content: string; encoding?: "utf8" | "base64"; executable?: boolean }[]`\n',
    )
    expect(api.indexOf('## Endpoints')).toBeLessThan(api.indexOf('## Search and read'))
    expect(api).toContain('## Search and read')
  })

  it('has the same valid example of each endpoint as a shell command and as client code', async () => {
    const { read } = await open()
    const commands: string[] = []
    for (const [name, { input }] of Object.entries<Endpoint>(endpoints)) {
      const { text } = await read(`/docs/guides/api/${name}.md`)
      const [command = '', ...others] = readFences(text, 'sh')
      const [program = ''] = readFences(text, 'ts')
      const [, literal = ''] = new RegExp(`await api\\.${name}\\(([^]*)\\)$`).exec(program)!
      // oxlint-disable-next-line typescript/no-implied-eval -- the text of our own node
      const value: unknown = new Function(`return ${literal || '{}'}`)()
      expect({ name, issues: safeParse(input, value).issues }).toEqual({ name, issues: undefined })
      expect(others).toEqual([])
      // The page shows longer blocks as plain text.
      for (const block of text.split('\n\n')) expect(block.length, name).toBeLessThan(5000)
      commands.push(command)
    }
    const printed = commands.map((command) => `${command}\nprintf '\\036'`).join('\n')
    const script = `curl() { printf '%s\\037' "$@"; }\n${printed}`
    const { key, node } = await open({ rates: 'off' })
    const calls = execFileSync('sh', ['-c', script], { env: { SKILLSTEAD_KEY: key }, encoding: 'utf8' })
      .split('\u001E')
      .slice(0, -1)
    expect(calls).toHaveLength(Object.keys(endpoints).length)
    const refused: string[] = []
    // Deletions last: the other examples are about the skill that they delete.
    for (const call of calls.toSorted(
      (a, b) => Number(a.startsWith('-X\u001FDELETE')) - Number(b.startsWith('-X\u001FDELETE')),
    )) {
      const words = call.split('\u001F').slice(0, -1)
      const after = (option: string) => words.filter((_, place) => words[place - 1] === option)
      const address = words.find((word) => word.startsWith('https://skills.example.com/'))!
      const [method = 'GET'] = after('-X')
      const [body = null] = after('-d')
      // No test depends on a network.
      if (body?.includes('https://example.com')) continue
      const headers = after('-H').map((line) => line.split(': ') as [string, string])
      const response = await fetch(address.replace('https://skills.example.com', node.url), { method, headers, body })
      const { code, detail } = response.ok ? { code: '', detail: '' } : await response.json()
      if (response.status >= 500 || code === 'invalid_request' || code === 'unauthorized')
        refused.push(`${method} ${address}: ${code} ${detail}`)
    }
    expect(refused).toEqual([])
  })

  it.each([
    '/docs/nothing',
    '/docs/README',
    '/docs/deploy.md',
    '/docs/..%2findex.html',
    '/docs/%2e%2e%2f%2e%2e%2fetc%2fpasswd',
    '/docs/api%2FgetSkill%2F..',
    '/docs/__proto__',
    '/docs/api/constructor',
    '/docs/api/getSkill/more',
    '/docs/%ff',
    `/docs/${'a'.repeat(4000)}`,
    '/docs/guides/..%2f..%2findex.html',
    '/docs/guides/%2e%2e/%2e%2e/index.html',
    '/docs/guides/nothing.md',
    '/docs/guides/api/..%2fdeploy.md',
    '/docs/guides/',
  ])('has no page at %s', async (path) => {
    const { node } = await open()
    const close = 'Host: 127.0.0.1~Accept: text/html~Connection: close~~'
    const answer = await sendRaw(node.port, `GET ${path} HTTP/1.1~${close}`)
    expect(answer).toMatch(/^HTTP\/1\.1 (?:404|400) /)
    expect(answer).not.toMatch(/root:|# Deploying/)
  })

  it('is public on a private node, but the OpenAPI document is not', async () => {
    const { read } = await open({ requireKey: true })
    for (const path of ['/docs', '/docs/deploy', '/docs/guides/deploy.md', '/docs/guides/operations.json'])
      expect([path, (await read(path)).status]).toEqual([path, 200])
    expect((await read('/docs')).text, 'without JavaScript').toContain('Air-gapped machines')
    expect((await read('/openapi.json')).status).toBe(401)
  })

  it('does not exist on a node without a dashboard', async () => {
    const { read } = await open({ dashboard: undefined })
    for (const path of ['/docs', '/docs/deploy', '/docs/guides/api.md']) expect((await read(path)).status).toBe(404)
  })
})

/** The anchor of a heading, as GitHub writes it. */
function toSlug(heading: string): string {
  const words = heading.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
  return words.trim().replaceAll(' ', '-')
}

describe('the guides', () => {
  it('are all in the list of docs/README.md, once, and so are the packages', () => {
    const listed = [...guides['docs/guides/README.md']!.matchAll(/^- \[.+?\]\((\S+\.md)\): .+\.$/gm)].map(
      ([, to]) => to,
    )
    const own = globSync(['*.md', '../packages/*/README.md'], { cwd: join(root, 'docs') })
    expect(listed.toSorted()).toEqual(own.filter((file) => file !== 'README.md').toSorted())
  })

  it.each(Object.keys(guides).filter((path) => path.endsWith('.md')))(
    'link in %s only to sections that exist',
    (path) => {
      const faults = [...guides[path]!.matchAll(/\]\(([\w-]+\.md)?(?:#([\w-]+))?\)/g)].filter(([, file, section]) => {
        const target = file === undefined ? guides[path] : guides[`docs/guides/${file}`]
        const anchors = [...(target ?? '').matchAll(/^#+ (.+)$/gm)].map(([, heading]) => toSlug(heading!))
        return target === undefined || (section !== undefined && !anchors.includes(section))
      })
      expect(faults.map(([link]) => link)).toEqual([])
    },
  )
})
