import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { asClawhubUser, readZipFiles } from '../support/clawhub-acts.ts'
import { createClock } from '../support/harness.ts'
import { skillMd, startNode } from '../support/server-harness.ts'

const tea = '---\nname: tea\ndescription: Sorts tea leaves\n---\n# Tea\n'

describe('the ClawHub gateway', () => {
  it('is announced with its URL, even by a private node', async () => {
    const { node } = await startNode({ requireKey: true })
    for (const name of ['clawhub', 'clawdhub']) {
      const response = await fetch(`${node.url}/.well-known/${name}.json`)
      expect(await response.json()).toEqual({ apiBase: `${node.url}/clawhub`, authBase: node.url })
    }
  })

  it('refuses guests of a private node with a plain text message', async () => {
    const fixture = await startNode({ requireKey: true })
    const response = await asClawhubUser(fixture).ask('/search?q=pdf')
    expect(response.status).toBe(401)
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(await response.text()).toContain('This node is private')
    expect((await asClawhubUser(fixture, fixture.key).read('/search?q=pdf')).results).toHaveLength(1)
  })

  it('gives the same response for a private skill and for a missing skill', async () => {
    const fixture = await startNode()
    await fixture.api.publishSkill({ name: 'pdf', visibility: 'private' })
    const bob = asClawhubUser(fixture, await fixture.createUser('bob'))
    const paths = ['', '/moderation', '/versions', '/versions/1.0.0', '/file?path=SKILL.md', '/install', '/verify']
    const routes = [...paths.map((path) => `/skills/NAME${path}`), '/download?slug=NAME', '/resolve?slug=NAME&hash=00']
    for (const route of routes) {
      const toOwned = (name: string) =>
        route.replace('NAME', name) + (route.includes('?') ? '&' : '?') + 'ownerHandle=alice'
      const [hidden, absent] = [await bob.ask(toOwned('pdf')), await bob.ask(toOwned('fax'))]
      expect(hidden.status).toBe(absent.status)
      expect((await hidden.text()).replaceAll('pdf', 'fax')).toBe(await absent.text())
    }
    for (const path of ['/search?q=pdf', '/search?q=pdf&mode=exact']) expect((await bob.read(path)).results).toEqual([])
    expect((await bob.read('/skills?prefix=pdf')).items).toEqual([])
    for (const path of ['/skills/pdf/report', '/skills/pdf/undelete', '/stars/pdf']) {
      expect((await bob.post(`${path}?ownerHandle=alice`, { reason: 'x' })).status).toBe(404)
    }
    expect((await bob.ask('/skills/pdf?ownerHandle=alice', { method: 'DELETE' })).status).toBe(404)
  })

  it('does not count a cached copy as a download', async () => {
    const clock = createClock()
    const fixture = await startNode({}, undefined, { clock })
    const { ask } = asClawhubUser(fixture)
    const path = '/download?slug=pdf&ownerHandle=alice'
    const etag = (await ask(path)).headers.get('etag')!
    // A download counts once for an address, skill and day.
    clock.advance(24 * 60 * 60 * 1000)
    expect((await ask(path, { headers: { 'if-none-match': etag } })).status).toBe(304)
    clock.advance(24 * 60 * 60 * 1000)
    expect((await ask(path, { headers: { 'if-none-match': '"other"' } })).status).toBe(200)
    const counted = async () => (await fixture.api.getDownloads({ name: 'alice/pdf' })).total
    await expect.poll(counted).toBeGreaterThanOrEqual(2)
    expect(await counted()).toBe(2)
  })

  it('finds a skill by its short name, with or without its owner, and returns its scan verdict', async () => {
    const fixture = await startNode()
    const { read } = asClawhubUser(fixture)
    const shown = await read('/skills/pdf')
    expect(shown).toMatchObject({
      skill: { slug: 'pdf', displayName: 'pdf', summary: 'Reads PDF files', tags: { latest: '1.0.0' } },
      latestVersion: { version: '1.0.0', changelog: '' },
      owner: { handle: 'alice' },
      moderation: { isSuspicious: false, isMalwareBlocked: false, verdict: 'clean' },
    })
    expect(Math.abs(shown.skill.createdAt - Date.now())).toBeLessThan(60_000)
    expect(await read('/skills/pdf?ownerHandle=%40Alice')).toEqual(shown)
    expect((await read('/skills/pdf/versions')).items).toMatchObject([{ version: '1.0.0' }])
    const { version } = await read('/skills/pdf/versions/1.0.0')
    expect(version).toMatchObject({ license: null, files: [{ path: 'SKILL.md', size: skillMd.length }] })
    expect(version.security.status).toBe('clean')
    const verified = await read('/skills/pdf/verify')
    expect(verified).toMatchObject({ ok: true, decision: 'pass', resolvedFrom: 'latest', publisherHandle: 'alice' })
    expect(verified.provenance.log.treeSize).toBe(1)
  })

  it('lists skills in pages with a cursor', async () => {
    const fixture = await startNode()
    await fixture.api.publishSkill({ skillMd: tea })
    const { read, ask } = asClawhubUser(fixture)
    const first = await read('/skills?limit=1&sort=downloads')
    expect(first).toMatchObject({ items: [{ latestVersion: { version: '1.0.0' } }], nextCursor: '2' })
    const second = await read('/skills?limit=1&sort=downloads&cursor=2')
    expect(second.nextCursor).toBeNull()
    expect([first.items[0]!.slug, second.items[0]!.slug].toSorted()).toEqual(['pdf', 'tea'])
    expect((await read('/skills?prefix=te&limit=1')).items).toMatchObject([{ slug: 'tea' }])
    expect((await read('/skills?limit=200')).items).toHaveLength(2)
    expect((await read('/skills?sort=trending')).items).toEqual([])
    expect((await ask('/skills?cursor=x')).status).toBe(400)
  })

  it('serves the published files, and finds the version of an installed folder by its hash', async () => {
    const fixture = await startNode()
    const { read, ask } = asClawhubUser(fixture)
    const { archive } = await read('/skills/pdf/install')
    expect(archive.downloadUrl).toContain('slug=pdf&ownerHandle=alice&version=1.0.0')
    const zip = new Uint8Array(await (await fetch(archive.downloadUrl)).arrayBuffer())
    expect(await readZipFiles(zip)).toEqual({ 'SKILL.md': Buffer.from(skillMd) })
    expect(await (await ask('/skills/pdf/file?path=SKILL.md&tag=latest')).text()).toBe(skillMd)
    expect(await (await ask('/skills/pdf/file?path=SKILL.md&tag=beta')).text()).toContain("There is no tag 'beta'")
    const hash = toFingerprint('SKILL.md', skillMd)
    const found = { match: { version: '1.0.0' }, latestVersion: { version: '1.0.0' } }
    expect(await read(`/resolve?slug=pdf&hash=${hash}`)).toEqual(found)
    expect(await read('/resolve?slug=pdf&hash=00')).toEqual({ ...found, match: null })
    expect(await read('/resolve?slug=absent&hash=00')).toEqual({ match: null, latestVersion: null })
    expect((await ask('/resolve?hash=00')).status).toBe(400)
  })

  it('responds to functions that this registry lacks with a plain text message', async () => {
    const fixture = await startNode()
    const { post, ask } = asClawhubUser(fixture, fixture.key)
    const texts = {
      '/skills/pdf/rename': 'The name of a skill does not change here.',
      '/skills/pdf/merge': 'Skills cannot be merged here.',
      '/skills/pdf/tags/beta': 'There are no tags but latest',
      '/skills/-/scan': 'Every version is scanned when it is published.',
      '/publishers': 'There are no publishers but users',
      '/packages': 'This registry has skills only',
      '/nothing': 'This registry has no such function for clawhub.',
    }
    for (const [path, text] of Object.entries(texts)) {
      const response = await post(path)
      expect([response.status, await response.text()]).toEqual([404, expect.stringContaining(text)])
    }
    expect((await ask('/search', { method: 'PUT' })).status).toBe(405)
  })
})

/** The hash by which the program recognises the only file of a folder. */
function toFingerprint(path: string, text: string): string {
  return toHash(`${path}:${toHash(text)}`)
}

function toHash(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
