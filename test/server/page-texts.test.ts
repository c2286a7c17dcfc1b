import { localApi } from '@skillstead/core'
import type { StaticFiles } from '@skillstead/server'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PageTemplate } from '../../packages/server/src/pages/page-template.ts'
import { createClock } from '../support/harness.ts'
import { sendRaw, startNode } from '../support/server-harness.ts'

const source = `<!doctype html><html><head>
<meta name="description" content="A registry for agent skills">
<meta property="og:image" content="/assets/preview-1a2b.png">
<title>Skillstead</title><script type="module" src="/assets/app.js"></script></head>
<body><div id="app"></div><noscript>x</noscript></body></html>`
const atRoot = { publicPath: '', requireKey: false }
const png = Buffer.from('89504e470d0a1a0a0000000d', 'hex')
const files: StaticFiles = new Map([
  ['index.html', () => Buffer.from(source)],
  ['assets/preview-1a2b.png', () => png],
])

/** The contents of the meta elements of a page, decoded, by name or property. */
function readMetas(page: string): Record<string, string> {
  const found = [...page.matchAll(/<meta (?:name|property)="([^"]+)" content="([^"]*)">/g)]
  return Object.fromEntries(found.map(([, name, content]) => [name, decode(content!)]))
}

function decode(text: string): string {
  const characters: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
  return text.replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => characters[name]!)
}

/** The tags of a page, without the values of their attributes. */
function readTags(page: string): string[] {
  return page.match(/<[^>]*>/g)!.map((tag) => tag.replaceAll(/"[^"]*"/g, '""'))
}

describe('a page without JavaScript', () => {
  it('describes a skill in a title, previews and text', async () => {
    const { node } = await startNode({ dashboard: files, publicUrl: 'https://intranet.example/tools' })
    const response = await fetch(`${node.url}/skills/alice/pdf/files?version=1.0.0`)
    const page = await response.text()
    const url = 'https://intranet.example/tools'
    expect(page).toContain('<title>alice/pdf · Skillstead</title>')
    expect(page).toContain(`<link rel="canonical" href="${url}/skills/alice/pdf">`)
    expect(readMetas(page)).toEqual({
      description: 'Reads PDF files',
      'skillstead-site-name': 'Skillstead',
      'og:url': `${url}/skills/alice/pdf`,
      'og:type': 'website',
      'og:site_name': 'Skillstead',
      'og:title': 'alice/pdf',
      'og:description': 'Reads PDF files',
      'og:image': `${url}/assets/preview-1a2b.png`,
      'twitter:card': 'summary_large_image',
    })
    const [, text = ''] = /<noscript>([^]*)<\/noscript>/.exec(page)!
    for (const part of ['Reads PDF files', '1.0.0', 'no known sign of harm', `npx skills add ${url}/alice/pdf@1.0.0`])
      expect(text).toContain(part)
    expect(text).toContain('href="/tools/skills/alice/pdf/files"')
    const preview = await fetch(`${node.url}/assets/preview-1a2b.png`)
    expect(preview.headers.get('content-type')).toBe('image/png')
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'")
  })

  it('differs in title and description from every other public page', async () => {
    const { node, api } = await startNode({ dashboard: files })
    await api.createPack({ name: 'Basics', slug: 'basics', description: 'For a start.', skills: ['pdf'] })
    const { id } = await api.createRequest({ title: 'A skill for maps', description: 'It draws maps.' })
    await api.registerAgent({ agentKey: 'codex:one', displayName: 'Codex one', platformId: 'codex' })
    const paths =
      `/ /skills/alice/pdf /packs /packs/basics /trending /agents /agents/codex%3Aone /users /users/alice /requests
      /requests?id=${id} /external /takedowns`.split(/\s+/)
    const pages = await Promise.all(paths.map(async (path) => (await fetch(node.url + path)).text()))
    const titles = pages.map((page) => /<title>(.*)<\/title>/.exec(page)![1])
    expect(new Set(titles).size).toBe(paths.length)
    expect(new Set(pages.map((page) => readMetas(page).description)).size).toBe(paths.length)
    for (const [place, page] of pages.entries()) expect(readMetas(page)['og:url']).toBe(node.url + paths[place])
    expect(pages[3]).toContain('href="/skills/alice/pdf"')
  })

  it('links to at most 50 entries of its list, and to nothing that guests may not read', async () => {
    const { node, api, registry } = await startNode({ dashboard: files, publicUrl: 'https://intranet.example/tools' })
    await api.createPack({ name: 'Basics <1>', slug: 'basics', description: 'For a start.', skills: ['pdf'] })
    await api.publishSkill({ skillMd: '---\nname: secret\ndescription: Hides.\n---\n# A\n', visibility: 'private' })
    for (let index = 0; index < 55; index += 1)
      await api.publishSkill({ skillMd: `---\nname: skill-${index}\ndescription: Does ${index}.\n---\n# ${index}\n` })
    const read = async (path: string) => {
      const response = await fetch(node.url + path)
      const [, text = ''] = /<noscript>([^]*)<\/noscript>/.exec(await response.text())!
      return { status: response.status, text }
    }
    const home = await read('/')
    expect(home.text).toContain('<a href="/tools/users"')
    expect(home.text.match(/href="\/tools\/skills\/alice\/[a-z0-9-]+"/g)).toHaveLength(50)
    expect(home.text).not.toContain('secret')
    expect((await read('/packs')).text).toContain('<a href="/tools/packs/basics"><bdi>Basics &lt;1&gt;</bdi></a>')
    expect((await read('/users')).text).toContain('<a href="/tools/users/alice"')
    await localApi(registry).track({ skillName: 'alice/pdf', agents: ['codex'] })
    await expect.poll(async () => (await read('/trending')).text).toContain('href="/tools/skills/alice/pdf"')
  })

  it('of a private node links to nothing', async () => {
    const { node } = await startNode({ dashboard: files, requireKey: true })
    for (const path of ['/', '/packs', '/trending', '/users']) {
      const text = await (await fetch(node.url + path)).text()
      expect(text, path).not.toMatch(/alice|<li>/)
      expect(readMetas(text)['skillstead-private'], path).toBe('true')
      expect(text, path).toContain('<noscript><p>This node is private. Signing in needs JavaScript.')
    }
  })

  it('changes when its skill changes', async () => {
    const { node, api } = await startNode({ dashboard: files })
    const read = async () => (await fetch(`${node.url}/skills/alice/pdf`)).text()
    expect(await read()).toContain('1.0.0')
    const first = await fetch(`${node.url}/skills/alice/pdf`)
    const etag = first.headers.get('etag')!
    const known = await fetch(`${node.url}/skills/alice/pdf`, { headers: { 'if-none-match': etag } })
    expect(known.status).toBe(304)
    await api.publishSkill({ skillMd: '---\nname: pdf\ndescription: Writes too\n---\n# PDF\n', version: '1.1.0' })
    expect(readMetas(await read()).description).toBe('Writes too')
    await api.publishSkill({ skillMd: '---\nname: pdf\ndescription: Writes it\n---\n# PDF\n', visibility: 'private' })
    expect(await read()).not.toMatch(/Writes|1\.1\.0/)
  })

  it('has no links to itself if the node does not know its own address', async () => {
    const { node } = await startNode({ dashboard: files })
    const page = await sendRaw(node.port, 'GET /skills/alice/pdf HTTP/1.1~Host: evil.example~Connection: close~~')
    expect(page).toContain('<meta property="og:title" content="alice/pdf">')
    expect(page).not.toMatch(/evil|canonical|og:url|og:image/)
  })

  it('contains hostile texts only as escaped text', () => {
    const template = new PageTemplate(source, { name: '"><script>1</script>', text: "</title>'" }, atRoot)
    const hostile = fc.array(
      fc.oneof(
        fc.constantFrom(
          '</noscript>',
          '</title>',
          '<script>',
          '"',
          "'",
          '><img src=x onerror=y>',
          '$&',
          '$`',
          "$'",
          '&lt;',
        ),
        fc.constantFrom(
          '<!--',
          ']]>',
          '\0',
          '\u202e',
          '\ud800',
          '<svg/onload=x>',
          '</div>',
          '<noscript>',
          '\n',
          'a',
          ' ',
        ),
      ),
      { maxLength: 12 },
    )
    const text = hostile.map((parts) => parts.join(''))
    fc.assert(
      fc.property(text, text, text, (title, description, fact) => {
        const page = template
          .write({
            address: 'https://a.example',
            text: {
              path: '/x',
              title,
              description,
              facts: [['Version', fact]],
              install: fact || 'a',
              links: [[`/${fact}`, title]],
            },
          })
          .toString()
        // The elements are those of the same page with harmless texts.
        const plain = template
          .write({
            address: 'https://a.example',
            text: {
              path: '/x',
              title: 'a',
              description: 'a',
              facts: [['Version', 'a']],
              install: 'a',
              links: [['/a', 'a']],
            },
          })
          .toString()
        expect(readTags(page)).toEqual(readTags(plain))
        expect(decode(/<h1><bdi>([^]*?)<\/bdi>/.exec(page)![1]!)).toBe(Buffer.from(title).toString())
      }),
    )
  })

  it('stays small, whatever a skill or user contains', () => {
    const template = new PageTemplate(source, { name: 'Node' }, atRoot)
    const long = 'wörd '.repeat(200_000)
    const links = Array.from({ length: 5000 }, (_, n) => [`/skills/a/b-${n}`, `a/b-${n}`] as const)
    const page = template.write({
      address: '',
      text: { path: '/', title: 't', description: 'd', facts: [['Deprecated', long]], links },
    })
    expect(page.byteLength).toBeLessThan(20_000)
  })
})

describe('the pages of an organisation', () => {
  it('return 200 only for an existing organisation, without a preview and without its name for guests', async () => {
    const { node, api } = await startNode({ dashboard: files })
    await api.createOrganisation({ name: 'acme', displayName: 'Acme Inc.' })
    for (const section of ['', '/teams', '/skills', '/rules', '/settings']) {
      const response = await fetch(`${node.url}/organisations/acme${section}`)
      const text = await response.text()
      expect([section, response.status, readMetas(text).robots]).toEqual([section, 200, 'noindex'])
      expect(text).not.toContain('Acme Inc.')
    }
    for (const path of ['acme/none', 'acme/rules/x', 'none', 'none/rules', 'alice', 'a%2Fb', '%00'])
      expect([path, (await fetch(`${node.url}/organisations/${path}`)).status]).toEqual([path, 404])
    expect((await fetch(`${node.url}/account/reviews/x`)).status).toBe(200)
    expect((await fetch(`${node.url}/account/reviews/x/y`)).status).toBe(404)
  })
})

describe("the operator's name, text and logo", () => {
  const svg =
    '<?xml version="1.0"?>\n<!-- ours -->\n<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'

  it('are in each page', async () => {
    const site = { name: 'Acme <Skills>', text: 'What our agents\n know.', logo: Buffer.from(svg) }
    const { node } = await startNode({ dashboard: files, publicUrl: 'https://a.example/x', site })
    const page = await (await fetch(`${node.url}/packs`)).text()
    expect(page).toContain('<title>Packs · Acme &lt;Skills&gt;</title>')
    expect(readMetas(page)).toMatchObject({
      'skillstead-site-name': 'Acme <Skills>',
      'skillstead-site-text': 'What our agents know.',
      'skillstead-site-logo': '/x/site-logo',
      'og:image': 'https://a.example/x/assets/preview-1a2b.png',
    })
    expect(readMetas(await (await fetch(node.url)).text()).description).toBe('What our agents know.')
    const logo = await fetch(`${node.url}/site-logo`)
    expect([logo.status, logo.headers.get('content-type'), await logo.text()]).toEqual([200, 'image/svg+xml', svg])
    expect(logo.headers.get('content-security-policy'), 'a logo that is opened runs nothing').toMatch(
      /^default-src 'none';.* sandbox$/,
    )
  })

  it('include a PNG logo in previews of links', async () => {
    const { node } = await startNode({ dashboard: files, site: { logo: png } })
    expect(readMetas(await (await fetch(node.url)).text())['og:image']).toBe(`${node.url}/site-logo`)
    expect((await fetch(`${node.url}/site-logo`)).headers.get('content-type')).toBe('image/png')
  })

  it.each([
    [{ name: 'n'.repeat(61) }, 'The name of the site has more than 60 characters'],
    [{ text: 't'.repeat(301) }, 'The text of the site has more than 300 characters'],
    [{ logo: Buffer.alloc(256 * 1024 + 1) }, 'larger than 256 KiB'],
    [{ logo: Buffer.from('GIF89a') }, 'neither an SVG nor a PNG file'],
    [{ logo: Buffer.from('<html><svg></svg></html>') }, 'neither an SVG nor a PNG file'],
    [{ logo: Buffer.alloc(0) }, 'neither an SVG nor a PNG file'],
  ])('are refused if they are invalid', async (site, message) => {
    await expect(startNode({ dashboard: files, site })).rejects.toThrow(message)
  })

  it('have defaults, without a logo', async () => {
    const { node } = await startNode({ dashboard: files, site: { name: ' ', text: '' } })
    const metas = readMetas(await (await fetch(node.url)).text())
    expect(metas).toMatchObject({ 'skillstead-site-name': 'Skillstead', description: 'A registry for agent skills' })
    expect(metas).not.toHaveProperty('skillstead-site-logo')
    expect((await fetch(`${node.url}/site-logo`)).status).toBe(404)
  })
})

describe('the page /device of the app', () => {
  it.each([false, true])(
    'exists for signing in a device, and states whether the node is private: %s',
    async (requireKey) => {
      const { node } = await startNode({ dashboard: files, requireKey })
      const response = await fetch(`${node.url}/device`)
      expect(response.status).toBe(200)
      const metas = readMetas(await response.text())
      expect(metas).toMatchObject({ robots: 'noindex' })
      expect(metas['skillstead-private']).toBe(requireKey ? 'true' : undefined)
    },
  )
})

describe('/robots.txt', () => {
  it('excludes the pages of accounts and administration, and share links', async () => {
    const { node } = await startNode({ publicUrl: 'https://a.example/x', dashboard: files })
    const response = await fetch(`${node.url}/robots.txt`)
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    const text = await response.text()
    for (const path of ['account', 'admin', 't/']) expect(text).toContain(`Disallow: /x/${path}\n`)
  })
})

async function locationsOf(url: string): Promise<string[]> {
  const text = await (await fetch(`${url}/sitemap.xml`)).text()
  return Array.from(text.matchAll(/<loc>([^<]*)<\/loc>/g), ([, location]) => location!)
}

describe('/sitemap.xml', () => {
  const publicUrl = 'https://a.example/x'

  it('has the public lists, packs and skills, and robots.txt names it', async () => {
    const { node, api, registry, createUser } = await startNode({ publicUrl, dashboard: files })
    await createUser('bob')
    const bobs = localApi(registry, await registry.getCaller('bob'))
    const publish = (name: string, visibility: 'public' | 'internal' | 'private') =>
      bobs.publishSkill({ skillMd: `---\nname: ${name}\ndescription: Reads ${name}.\n---\nDo.\n`, visibility })
    await publish('open', 'public')
    await publish('inner', 'internal')
    await publish('closed', 'private')
    await publish('yanked', 'public')
    await publish('spam', 'public')
    await bobs.yankVersion({ name: 'yanked', version: '1.0.0' })
    await api.moderateSkill({ name: 'bob/spam', state: 'hidden', reason: 'Spam' })
    for (const visibility of ['public', 'private'] as const)
      await bobs.createPack({ name: visibility, slug: visibility, description: 'Some', skills: ['open'], visibility })
    const found = await locationsOf(node.url)
    for (const path of `/ /packs /requests /packs/public /skills/alice/pdf /skills/bob/open
      /docs /docs/api /docs/api/getSkill`.split(/\s+/))
      expect(found).toContain(publicUrl + path)
    expect(new Set(found).size).toBe(found.length)
    expect(found.filter((one) => /\/(?:skills|packs)\/./.test(one))).toHaveLength(3)
    expect(found.join('\n')).not.toMatch(/inner|closed|yanked|spam|private|account|admin/)
    const response = await fetch(`${node.url}/sitemap.xml`)
    expect(response.headers.get('content-type')).toBe('application/xml; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('public, max-age=600')
    expect(await (await fetch(`${node.url}/robots.txt`)).text()).toContain(`\nSitemap: ${publicUrl}/sitemap.xml\n`)
  })

  it('is updated at most once in ten minutes', async () => {
    const clock = createClock(Date.now())
    const { node, api } = await startNode({ publicUrl, dashboard: files }, undefined, { clock })
    await locationsOf(node.url)
    await api.publishSkill({ skillMd: '---\nname: later\ndescription: Comes later.\n---\nDo.\n' })
    expect(await locationsOf(node.url)).not.toContain(`${publicUrl}/skills/alice/later`)
    clock.advance(601_000)
    expect(await locationsOf(node.url)).toContain(`${publicUrl}/skills/alice/later`)
  })

  it('is missing on a private node, without a public URL and without pages', async () => {
    for (const [options, status] of [
      [{ publicUrl, dashboard: files, requireKey: true }, 401],
      [{ dashboard: files }, 404],
      [{ publicUrl }, 404],
    ] as const) {
      const { node } = await startNode(options)
      expect((await fetch(`${node.url}/sitemap.xml`)).status).toBe(status)
    }
  })
})

/** The data that a page carries for the app. */
function readData(page: string): { details: { fullName: string }; version?: string; skillMd?: string } | undefined {
  const [, json] = /<script type="application\/json" id="page-data">([^<]*)<\/script>/.exec(page) ?? []
  return json === undefined ? undefined : JSON.parse(json)
}

describe('the page of a skill', () => {
  const hostile = '---\nname: hostile\ndescription: Ends scripts\n---\n</script><script>alert(1)</script><!--<script>\n'
  const linked = source.replace(
    '</head>',
    '<link rel="modulepreload" crossorigin href="/assets/skill.js" data-page="skill"></head>',
  )
  const withLinks: StaticFiles = new Map([['index.html', () => Buffer.from(linked)]])

  it('has the details and SKILL.md as data from which hostile text cannot break out, and counts no download', async () => {
    const { node, api } = await startNode({ dashboard: withLinks })
    await api.publishSkill({ skillMd: hostile, version: '1.0.0' })
    await api.publishSkill({ skillMd: `${hostile}Second.\n`, version: '1.1.0' })
    const read = async (path: string) => (await fetch(node.url + path)).text()
    const latest = await read('/skills/alice/hostile')
    expect(latest.match(/<script/g)).toHaveLength(2)
    expect(latest).toContain('href="/assets/skill.js"')
    expect(readData(latest)).toMatchObject({ details: { fullName: 'alice/hostile' }, skillMd: `${hostile}Second.\n` })
    const first = readData(await read('/skills/alice/hostile?version=1.0.0'))
    expect(first).toMatchObject({ version: '1.0.0', skillMd: hostile })
    expect((await api.getDownloads({ name: 'alice/hostile' })).total).toBe(0)
  })

  it('has only the details if SKILL.md is large, and no data of skills that guests cannot read', async () => {
    const { node, api, as, key } = await startNode({ dashboard: withLinks })
    const large = `---\nname: large\ndescription: Is long\n---\n${'A line of a long text.\n'.repeat(5000)}`
    await api.publishSkill({ skillMd: large, version: '1.0.0' })
    const read = async (path: string, headers = {}) => (await fetch(node.url + path, { headers })).text()
    const data = readData(await read('/skills/alice/large'))!
    expect(data.details.fullName).toBe('alice/large')
    expect(data.skillMd).toBeUndefined()
    await api.publishSkill({ skillMd: '---\nname: pdf\ndescription: Secret\n---\n# Secret\n', visibility: 'private' })
    const session = await as('/session', { method: 'POST', headers: { 'x-skillstead-session': '1' } })
    const cookie = session.headers.get('set-cookie')!.split(';')[0]!
    for (const path of ['/skills/alice/pdf', '/skills/alice/nothing', '/', '/users/alice', '/account']) {
      for (const page of [await read(path), await read(path, { cookie, authorization: `Bearer ${key}` })]) {
        expect(readData(page), path).toBeUndefined()
        expect(page, path).not.toContain('data-page')
      }
    }
  })
})
