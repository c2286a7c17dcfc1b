import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { limits } from '@skillstead/protocol'
import { packTar } from 'modern-tar'
import { afterEach, expect, it } from 'vitest'
import { describeInTurn } from '../support/harness.ts'
import { endMirrors, openMirror, openUpstream } from '../support/mirror-harness.ts'
import { openStandIn, type StandIn } from '../support/stand-in.ts'

afterEach(endMirrors)

const schema = 'https://schemas.agentskills.io/discovery/0.2.0/schema.json'

function toSkillMd(name: string, body = 'Does it.', more = ''): string {
  return `---\nname: ${name}\ndescription: Does ${name}\n${more}---\n# ${name}\n\n${body}\n`
}

function toDigest(bytes: Uint8Array | string): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}

async function toTarGz(files: Record<string, string>): Promise<Buffer> {
  const entries = Object.entries(files).map(([name, body]) => ({
    header: { name, size: Buffer.byteLength(body) },
    body,
  }))
  return gzipSync(await packTar(entries))
}

function toArchive(name: string, url: string, digest: string) {
  return { name, type: 'archive', description: name, url, digest }
}

/** A host of plain files, which tests change. */
async function openHost(): Promise<StandIn & { files: Map<string, Uint8Array | string> }> {
  const files = new Map<string, Uint8Array | string>()
  const host = await openStandIn((request, response) => {
    const body = files.get(request.url!)
    if (body === undefined) return void response.writeHead(404).end()
    const etag = `"${toDigest(body)}"`
    if (request.headers['if-none-match'] === etag) return void response.writeHead(304, { etag }).end()
    response.writeHead(200, { etag }).end(body)
  })
  return Object.assign(host, { files })
}

describeInTurn('a mirror of a discovery index', (open) => {
  it("imports all skills from the index of a node's owner, from zip archives and from single files", async () => {
    const upstream = await openUpstream(open)
    await upstream.publish('tea')
    const files = [{ path: 'scripts/run.sh', content: 'echo run\n' }]
    await upstream.alice.api.publishSkill({ skillMd: toSkillMd('pdf'), version: '1.0.0', files })
    const { mirror, test } = await openMirror(open)
    await mirror.add('site', `${upstream.url}/alice`, { kind: 'discovery', filters: { owners: ['alice'] } })
    expect(await mirror.sync('site')).toMatchObject({ applied: 2, refusedTotal: 0 })
    const [there, here] = [
      await upstream.test.api().getSkill({ name: 'alice/pdf' }),
      await test.api().getSkill({ name: 'alice/pdf' }),
    ]
    expect(here.digest).toBe(there.digest)
    expect(here.files).toEqual(there.files)
    expect(await mirror.sync('site')).toMatchObject({ applied: 0, requests: 1 })
    await upstream.publish('tea', '1.1.0')
    expect(await mirror.sync('site')).toMatchObject({ applied: 1, unchanged: 1, requests: 2 })
    const tea = await test.api().getSkill({ name: 'alice/tea' })
    expect(tea.versions.map(({ version }) => version)).toEqual(['1.0.1', '1.0.0'])
  })

  it('imports skills that require an API key as private', async () => {
    const upstream = await openUpstream(open)
    await upstream.publish('tea')
    await upstream.alice.api.publishSkill({ skillMd: toSkillMd('diary'), version: '1.0.0', visibility: 'private' })
    const { mirror, test } = await openMirror(open, {}, { secretKey: new Uint8Array(32) })
    const { key: apiKey } = upstream.alice
    await mirror.add('site', `${upstream.url}/alice`, { kind: 'discovery', apiKey, filters: { owners: ['alice'] } })
    expect(await mirror.sync('site')).toMatchObject({ applied: 1 })
    const { skills } = await test.api().searchSkills({})
    expect(skills.map(({ fullName }) => fullName)).toEqual(['alice/tea'])
    await expect(test.api().getSkill({ name: 'alice/diary' })).rejects.toMatchObject({ code: 'not_found' })
  })

  it('imports all skills as private if guests cannot read the index', async () => {
    const text = toSkillMd('pdf')
    const entry = { name: 'pdf', type: 'skill-md', description: 'x', url: '/pdf.md', digest: toDigest(text) }
    let isOpen = false
    const host = await openStandIn((request, response) => {
      const isLetIn = isOpen || request.headers.authorization === 'Bearer ssk_key'
      if (!isLetIn) return void response.writeHead(401).end()
      const index = JSON.stringify({ $schema: schema, skills: [entry] })
      response.writeHead(200).end(request.url === '/pdf.md' ? text : index)
    })
    const { mirror, test } = await openMirror(open, {}, { secretKey: new Uint8Array(32) })
    await mirror.add('site', host.url, { kind: 'discovery', apiKey: 'ssk_key', filters: { owners: ['acme'] } })
    expect(await mirror.sync('site')).toMatchObject({ applied: 1, refusedTotal: 0 })
    await expect(test.api().getSkill({ name: 'acme/pdf' })).rejects.toMatchObject({ code: 'not_found' })
    expect(await mirror.sync('site')).toMatchObject({ applied: 0, unchanged: 1 })
    isOpen = true
    expect(await mirror.sync('site')).toMatchObject({ applied: 0, unchanged: 1 })
    await expect(test.api().getSkill({ name: 'acme/pdf' })).rejects.toMatchObject({ code: 'not_found' })
  })

  it('names the owner after the host, and uses the version in the frontmatter if it is higher', async () => {
    const host = await openHost()
    const put = (body: string, version: string) => {
      const text = toSkillMd('pdf', body, `metadata:\n  version: ${version}\n`)
      host.files.set('/pdf.md', text)
      const entry = { name: 'pdf', type: 'skill-md', description: 'x', url: '/pdf.md', digest: toDigest(text) }
      host.files.set('/.well-known/agent-skills/index.json', JSON.stringify({ $schema: schema, skills: [entry] }))
    }
    const { mirror, test } = await openMirror(open)
    await mirror.add('site', host.url, { kind: 'discovery' })
    const versions = async () => {
      await mirror.sync('site')
      const { versions: all } = await test.api().getSkill({ name: '127-0-0-1/pdf' })
      return all.map(({ version }) => version)
    }
    put('One.', '2.0.0')
    expect(await versions()).toEqual(['2.0.0'])
    put('Two.', '2.0.0')
    expect(await versions()).toEqual(['2.0.1', '2.0.0'])
    put('Three.', '3.0.0')
    expect(await versions()).toEqual(['3.0.0', '2.0.1', '2.0.0'])
    // What came back is new again.
    put('One.', '2.0.0')
    expect(await versions()).toEqual(['3.0.1', '3.0.0', '2.0.1', '2.0.0'])
  })

  it('accepts tar.gz archives, and rejects wrong digests, other hosts, invalid paths and duplicate names', async () => {
    const host = await openHost()
    const good = await toTarGz({ 'SKILL.md': toSkillMd('tar'), 'a/b.txt': 'text' })
    const escape = await toTarGz({ 'SKILL.md': toSkillMd('escape'), '../../x': 'text' })
    host.files.set('/good.tgz', good).set('/escape.tgz', escape)
    const skills = [
      toArchive('tar', '../../good.tgz', toDigest(good)),
      toArchive('tar', '../../escape.tgz', toDigest(escape)),
      toArchive('lie', '/good.tgz', toDigest('other')),
      toArchive('escape', '/escape.tgz', toDigest(escape)),
      toArchive('away', 'http://localhost:1/good.tgz', toDigest(good)),
      toArchive('gone', '/gone.tgz', toDigest(good)),
      { name: 'Not A Name', type: 'archive' },
      7,
    ]
    host.files.set('/.well-known/agent-skills/index.json', JSON.stringify({ $schema: schema, skills }))
    const { mirror, test } = await openMirror(open)
    await mirror.add('site', host.url, { kind: 'discovery', filters: { owners: ['acme'] } })
    const { refused, applied } = await mirror.sync('site')
    expect(applied).toBe(1)
    expect(refused.map(({ subject, reason }) => `${subject}: ${reason}`).toSorted()).toEqual([
      'Not A Name: malformed',
      'acme/escape: invalid',
      'acme/gone: missing',
      'acme/lie: altered',
      'an entry without a name: malformed',
      'away: malformed',
      'tar: malformed',
    ])
    const { files } = await test.api().getSkill({ name: 'acme/tar' })
    expect(files.map(({ path }) => path)).toEqual(['SKILL.md', 'a/b.txt'])
  })

  it('reads an index of version 0.1.0 file by file, and on later syncs only changes', async () => {
    const host = await openHost()
    const skills = [
      { name: 'pdf', description: 'x', files: ['SKILL.md', 'references/a b.md'] },
      { name: 'sly', description: 'x', files: ['SKILL.md', '../../../secret'] },
    ]
    host.files.set('/.well-known/skills/index.json', JSON.stringify({ skills }))
    host.files.set('/.well-known/skills/pdf/SKILL.md', toSkillMd('pdf'))
    host.files.set('/.well-known/skills/pdf/references/a%20b.md', 'one')
    const { mirror, test } = await openMirror(open)
    await mirror.add('site', host.url, { kind: 'discovery', filters: { owners: ['acme'] } })
    expect(await mirror.sync('site')).toMatchObject({ applied: 1, refused: [{ subject: 'sly', reason: 'malformed' }] })
    expect(await mirror.sync('site')).toMatchObject({ applied: 0, unchanged: 1 })
    host.files.set('/.well-known/skills/pdf/references/a%20b.md', 'two')
    expect(await mirror.sync('site')).toMatchObject({ applied: 1 })
    const { body } = await test.api().getFile({ name: 'acme/pdf', path: 'references/a b.md' })
    expect(Buffer.from(body as Uint8Array).toString()).toBe('two')
    expect((await test.api().getSkill({ name: 'acme/pdf' })).latestVersion).toBe('1.0.1')
  })

  it('requests files again if they were missing or changed while the index was read', async () => {
    const host = await openHost()
    const [tea, pdf] = [toSkillMd('tea'), toSkillMd('pdf')]
    const skills = [
      { name: 'tea', type: 'skill-md', description: 'x', url: '/tea.md', digest: toDigest(tea) },
      { name: 'pdf', type: 'skill-md', description: 'x', url: '/pdf.md', digest: toDigest(pdf) },
    ]
    host.files.set('/.well-known/agent-skills/index.json', JSON.stringify({ $schema: schema, skills }))
    host.files.set('/pdf.md', toSkillMd('pdf', 'Of yesterday.'))
    const { mirror } = await openMirror(open)
    await mirror.add('site', host.url, { kind: 'discovery', filters: { owners: ['acme'] } })
    expect(await mirror.sync('site')).toMatchObject({ applied: 0, refusedTotal: 2 })
    host.files.set('/tea.md', tea).set('/pdf.md', pdf)
    expect(await mirror.sync('site')).toMatchObject({ applied: 2, refusedTotal: 0 })
    expect(await mirror.sync('site')).toMatchObject({ applied: 0, requests: 1 })
  })

  it('skips files of an index of version 0.1.0 that do not belong to the skill, and reports these files', async () => {
    const host = await openHost()
    const skipped = ['.DS_Store', 'node_modules/x.js', 'inner/SKILL.md', 'inner/data.txt']
    const files = [...skipped, 'SKILL.md', 'o\u0308wn.md']
    for (const path of [...files, '.git/config'])
      host.files.set(`/.well-known/skills/pdf/${encodeURIComponent(path).replaceAll('%2F', '/')}`, toSkillMd('pdf'))
    const list = (...more: string[]) =>
      host.files.set(
        '/.well-known/skills/index.json',
        JSON.stringify({ skills: [{ name: 'pdf', description: 'x', files: [...files, ...more] }] }),
      )
    list()
    const { mirror, test } = await openMirror(open)
    await mirror.add('site', host.url, { kind: 'discovery', filters: { owners: ['acme'] } })
    const { applied, omitted, changed } = await mirror.sync('site')
    expect(changed).toEqual([{ path: 'pdf/o\u0308wn.md', reason: expect.stringContaining('normalisation form C') }])
    expect([applied, omitted.map(({ path }) => path).toSorted()]).toEqual([
      1,
      ['pdf/.DS_Store', 'pdf/inner', 'pdf/node_modules'],
    ])
    const { files: stored } = await test.api().getSkill({ name: 'acme/pdf' })
    expect(stored.map(({ path }) => path)).toEqual(['SKILL.md', '\u00f6wn.md'])
    expect(host.requests.some(({ path }) => path.includes('node_modules'))).toBe(false)
    list('.git/config')
    const { refused } = await mirror.sync('site')
    expect(refused).toEqual([expect.objectContaining({ detail: expect.stringContaining('.git/config: ') })])
  })

  it('continues if the host replaces its index of version 0.2.0 with an index of version 0.1.0', async () => {
    const host = await openHost()
    const text = toSkillMd('pdf')
    const entry = { name: 'pdf', type: 'skill-md', description: 'x', url: '/pdf.md', digest: toDigest(text) }
    const index = '/.well-known/agent-skills/index.json'
    host.files.set('/pdf.md', text).set(index, JSON.stringify({ $schema: schema, skills: [entry] }))
    const { mirror } = await openMirror(open)
    await mirror.add('site', host.url, { kind: 'discovery', filters: { owners: ['acme'] } })
    expect(await mirror.sync('site')).toMatchObject({ applied: 1 })
    host.files.set(index, JSON.stringify({ skills: [{ name: 'pdf', description: 'x' }] }))
    host.files.set('/.well-known/agent-skills/pdf/SKILL.md', toSkillMd('pdf', 'More.'))
    expect(await mirror.sync('site')).toMatchObject({ applied: 1, refusedTotal: 0 })
  })

  it('limits a skill to the maximum size of a version, even if only some of its files changed', async () => {
    const host = await openHost()
    const paths = Array.from({ length: 12 }, (_, i) => `part-${i}.txt`)
    const files = ['SKILL.md', ...paths]
    const index = JSON.stringify({ skills: [{ name: 'pdf', description: 'x', files }] })
    host.files.set('/.well-known/agent-skills/index.json', index)
    const folder = '/.well-known/agent-skills/pdf'
    host.files.set(`${folder}/SKILL.md`, toSkillMd('pdf'))
    for (const path of paths) host.files.set(`${folder}/${path}`, 'small')
    const { mirror } = await openMirror(open)
    await mirror.add('site', host.url, { kind: 'discovery', filters: { owners: ['acme'] } })
    expect(await mirror.sync('site')).toMatchObject({ applied: 1 })
    host.files.set(`${folder}/SKILL.md`, toSkillMd('pdf', 'More.'))
    // It says that nothing of them changed, and sends something else to whom has nothing.
    const large = Buffer.alloc(limits.fileBytesMax, 'x')
    const { answer } = host
    host.answer = (request, response) => {
      if (!request.url!.includes('/part-')) return answer(request, response)
      if (request.headers['if-none-match']) return void response.writeHead(304).end()
      response.writeHead(200).end(large)
    }
    const sent = host.requests.length
    expect(await mirror.sync('site')).toMatchObject({ applied: 0, refused: [{ reason: 'invalid' }] })
    const enough = Math.ceil(limits.versionBytesMax / limits.fileBytesMax) + 1
    expect(host.requests.length - sent - 1 - files.length).toBeLessThanOrEqual(enough)
  })

  it('keeps skills that the index no longer lists, and reports a missing index', async () => {
    const host = await openHost()
    const text = toSkillMd('pdf')
    host.files.set('/pdf.md', text)
    const entry = { name: 'pdf', type: 'skill-md', description: 'x', url: '/pdf.md', digest: toDigest(text) }
    const index = '/.well-known/agent-skills/index.json'
    host.files.set(index, JSON.stringify({ $schema: schema, skills: [entry] }))
    const { mirror, test } = await openMirror(open)
    await mirror.add('site', host.url, { kind: 'discovery', filters: { owners: ['acme'] } })
    await mirror.sync('site')
    host.files.set(index, JSON.stringify({ $schema: schema, skills: [] }))
    expect(await mirror.sync('site')).toMatchObject({ applied: 0, removed: 0 })
    host.files.delete(index)
    await expect(mirror.sync('site')).rejects.toMatchObject({ code: 'upstream_failed' })
    host.files.set(
      index,
      JSON.stringify({ $schema: 'https://schemas.agentskills.io/discovery/9.0.0/schema.json', skills: [] }),
    )
    await expect(mirror.sync('site')).rejects.toThrow('9.0.0')
    host.files.set(index, '<html>Sign in</html>')
    await expect(mirror.sync('site')).rejects.toMatchObject({ code: 'upstream_failed' })
    expect(await test.api().getSkill({ name: 'acme/pdf' })).toMatchObject({ latestVersion: '1.0.0' })
  })
})
