import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { startGit, toSkillMd } from '../support/git-acts.ts'
import {
  fetchObjects,
  listRefs,
  readBlobTexts,
  readPack,
  readPackets,
  toPackets,
  unknownId,
  upload,
} from '../support/git-client.ts'

const note = 'The same in all versions.\n'
const textOf = (version: string) => toSkillMd('tables', `Version ${version}.`)

describe('the repository of a skill', () => {
  it('has the same ids on every node', async () => {
    const { repository } = await startGit()
    // Other ids would change the history of every clone.
    expect(await listRefs(repository)).toEqual({
      HEAD: '090a56ff7b76120a55ab6ab56f847ce307886918',
      'refs/heads/main': '090a56ff7b76120a55ab6ab56f847ce307886918',
      'refs/tags/v1.0.0': 'eb7434d814a79617ad0083aa5bb5f713bcfa1fd2',
      'refs/tags/v1.0.0^{}': 'f10d690c90a884edf632f31f986e2249e8b9b523',
      'refs/tags/v2.0.0': '2b3bc8958bff999c18b2cba7d77aa52f6f83229e',
      'refs/tags/v2.0.0^{}': '090a56ff7b76120a55ab6ab56f847ce307886918',
    })
  })

  it('has a commit and an annotated tag for each version', async () => {
    const { repository } = await startGit()
    const refs = await listRefs(repository)
    const objects = await fetchObjects(repository, Object.values(refs))
    const by = 'alice <alice@users.noreply.invalid>'
    expect(objects.get(refs['refs/heads/main']!)!.bytes.toString()).toMatch(
      new RegExp(
        `^tree \\w{40}\nparent ${refs['refs/tags/v1.0.0^{}']}\n` +
          `author ${by} 1767398400 \\+0000\ncommitter ${by} 1767398400 \\+0000\n\ntables 2.0.0\n$`,
      ),
    )
    expect(objects.get(refs['refs/tags/v1.0.0']!)!.bytes.toString()).toBe(
      `object ${refs['refs/tags/v1.0.0^{}']}\ntype commit\ntag v1.0.0\ntagger ${by} 1767312000 +0000\n\ntables 1.0.0\n`,
    )
    expect(readBlobTexts(objects)).toEqual([textOf('1.0.0'), textOf('2.0.0'), note])
  })

  it('gives a version that is published after a higher version the next lower version as parent', async () => {
    const { publish, repository } = await startGit()
    const before = await listRefs(repository)
    await publish('tables', '1.0.1')
    const refs = await listRefs(repository)
    expect(refs).toMatchObject(before)
    const objects = await fetchObjects(repository, [refs['refs/tags/v1.0.1']!])
    const commit = objects.get(refs['refs/tags/v1.0.1^{}']!)!.bytes.toString()
    expect(commit).toContain(`parent ${refs['refs/tags/v1.0.0^{}']}\n`)
  })

  it('keeps a yanked version in the history, without a tag', async () => {
    const { api, publish, repository } = await startGit()
    const before = await listRefs(repository)
    await publish('tables', '3.0.0')
    await api.yankVersion({ name: 'alice/tables', version: '2.0.0' })
    const refs = await listRefs(repository)
    expect(Object.keys(refs).filter((name) => !name.endsWith('^{}'))).toEqual([
      'HEAD',
      'refs/heads/main',
      'refs/tags/v1.0.0',
      'refs/tags/v3.0.0',
    ])
    const objects = await fetchObjects(repository, [refs.HEAD!])
    expect(objects.has(before['refs/heads/main']!)).toBe(true)
    await api.yankVersion({ name: 'alice/tables', version: '3.0.0' })
    expect((await listRefs(repository)).HEAD).toBe(before['refs/tags/v1.0.0^{}'])
  })

  it('sends a client with an older version only the new objects', async () => {
    const { repository } = await startGit()
    const refs = await listRefs(repository)
    const old = refs['refs/tags/v1.0.0^{}']!
    const objects = await fetchObjects(repository, [refs.HEAD!], [`have ${unknownId}`, `have ${old}`])
    expect([...objects.values()].map(({ kind }) => kind)).toEqual(['commit', 'tree', 'blob'])
    expect(readBlobTexts(objects)).toEqual([textOf('2.0.0')])
  })

  it('sends one commit with a depth of 1, and reports where the history ends', async () => {
    const { repository } = await startGit()
    const { HEAD = '' } = await listRefs(repository)
    for (const version of [0, 1] as const) {
      const body = toPackets(`want ${HEAD} shallow ofs-delta`, 'deepen 1', '0000', 'done')
      const response = Buffer.from(await (await upload(repository, body, { version })).arrayBuffer())
      const start = response.indexOf('PACK')
      expect(readPackets(response.subarray(0, start))).toEqual([`shallow ${HEAD}`, '0000', 'NAK'])
      const kinds = [...readPack(response.subarray(start)).values()].map(({ kind }) => kind)
      expect(kinds.filter((kind) => kind === 'commit')).toHaveLength(1)
    }
  })

  it('acknowledges common commits in the form that the client requests', async () => {
    const { repository } = await startGit()
    const { HEAD = '', ...refs } = await listRefs(repository)
    const old = refs['refs/tags/v1.0.0^{}']!
    const cases = [
      ['multi_ack_detailed', [`ACK ${old} common`, `ACK ${old} ready`, 'NAK']],
      ['multi_ack_detailed no-done', [`ACK ${old} common`, `ACK ${old} ready`, 'NAK', `ACK ${old}`]],
      ['multi_ack', [`ACK ${old} continue`, 'NAK']],
      ['ofs-delta', [`ACK ${old}`]],
    ] as const
    for (const [capabilities, expected] of cases) {
      const body = toPackets(`want ${HEAD} ${capabilities}`, '0000', `have ${old}`, `have ${unknownId}`, '0000')
      const response = Buffer.from(await (await upload(repository, body)).arrayBuffer())
      const end = response.indexOf('PACK')
      expect(readPackets(end === -1 ? response : response.subarray(0, end))).toEqual(expected)
      expect(end !== -1).toBe(capabilities.endsWith('no-done'))
    }
  })

  it('sends a git pack if every wanted commit descends from a commit that the client has', async () => {
    const { publish, repository } = await startGit()
    await publish('tables', '3.0.0')
    const refs = await listRefs(repository)
    const [old, middle] = [refs['refs/tags/v1.0.0^{}']!, refs['refs/tags/v2.0.0^{}']!]
    for (const wants of [
      [refs.HEAD, middle],
      [middle, refs.HEAD],
    ]) {
      const lines = wants.map((id) => `want ${id}`)
      const body = toPackets('command=fetch', '0001', ...lines, `have ${old}`, '0000')
      const response = Buffer.from(await (await upload(repository, body, { version: 2 })).arrayBuffer())
      const end = response.indexOf('packfile')
      expect(readPackets(response.subarray(0, end - 4))).toEqual(['acknowledgments', `ACK ${old}`, 'ready', '0001'])
    }
  })

  it('lists only references with the requested prefixes in version 2 of the protocol', async () => {
    const { repository } = await startGit()
    const refs = await listRefs(repository)
    const list = async (...lines: string[]) => {
      const response = await upload(repository, toPackets('command=ls-refs', '0001', ...lines, '0000'), { version: 2 })
      return readPackets(new Uint8Array(await response.arrayBuffer()))
    }
    expect(await list('peel', 'symrefs', 'ref-prefix refs/tags/v1', 'ref-prefix HEAD')).toEqual([
      `${refs.HEAD} HEAD symref-target:refs/heads/main`,
      `${refs['refs/tags/v1.0.0']} refs/tags/v1.0.0 peeled:${refs['refs/tags/v1.0.0^{}']}`,
      '0000',
    ])
    expect(await list('ref-prefix refs/heads/x')).toEqual(['0000'])
    expect(await list()).toHaveLength(5)
    const prefixes = Array.from({ length: 65 }, (_, i) => `ref-prefix refs/x/${i}`)
    expect(await list(...prefixes.slice(1), 'ref-prefix refs/x/1')).toEqual(['0000'])
    expect(await list(...prefixes)).toEqual(await list())
  })

  it('accepts compressed requests', async () => {
    const { repository } = await startGit()
    const { HEAD = '' } = await listRefs(repository)
    const body = gzipSync(toPackets(`want ${HEAD} side-band-64k`, '0000', 'done'))
    const response = await upload(repository, body, { headers: { 'content-encoding': 'gzip' } })
    expect(response.headers.get('content-type')).toBe('application/x-git-upload-pack-result')
    const packets = readPackets(new Uint8Array(await response.arrayBuffer()))
    expect(packets[0]).toBe('NAK')
    expect(packets[1]!.slice(1, 5)).toBe('PACK')
    expect(packets.at(-1)).toBe('0000')
  })

  it('sends files of many packets unchanged', async () => {
    const { publish, repository } = await startGit()
    const content = Buffer.from(Array.from({ length: 400_000 }, (_, i) => (i * 7919) % 251)).toString('base64')
    await publish('tables', '3.0.0', { files: [{ path: 'large.bin', content, encoding: 'base64' }] })
    const { HEAD = '' } = await listRefs(repository)
    const objects = await fetchObjects(repository, [HEAD])
    const sizes = [...objects.values()].map(({ bytes }) => bytes.length)
    expect(Math.max(...sizes)).toBe(400_000)
    expect(await fetchObjects(repository, [HEAD])).toEqual(objects)
  })

  it('counts a clone as one download', async () => {
    const { api, createUser, repository, base } = await startGit()
    await createUser('bob')
    const { HEAD = '', ...refs } = await listRefs(repository)
    await fetchObjects(repository, [refs['refs/tags/v1.0.0']!])
    await fetchObjects(repository, [HEAD])
    await fetchObjects(repository, [HEAD])
    await fetchObjects(`${base}/alice.git`, [(await listRefs(`${base}/alice.git`)).HEAD!])
    const readDownloads = async () => (await api.getDownloads({ name: 'alice/tables' })).total
    await expect.poll(readDownloads).toBe(1)
    expect((await api.getDownloads({ name: 'alice/pdf' })).total).toBe(0)
  })
})

describe('the repository of an owner', () => {
  it('has the latest versions of all public skills', async () => {
    const { base, publish } = await startGit()
    await publish('secret', '1.0.0', { visibility: 'private' })
    await publish('inside', '1.0.0', { visibility: 'internal' })
    const { HEAD = '', ...others } = await listRefs(`${base}/alice.git`)
    expect(others).toEqual({ 'refs/heads/main': HEAD })
    const objects = await fetchObjects(`${base}/alice.git`, [HEAD], ['deepen 1', 'done'])
    expect(readBlobTexts(objects)).toHaveLength(3)
    expect(readBlobTexts(objects)).toContain(textOf('2.0.0'))
    const trees = [...objects.values()]
      .filter(({ kind }) => kind === 'tree')
      .map(({ bytes }) => bytes.toString('latin1'))
    const root =
      /^40000 \.agents\0[^]{20}40000 \.claude-plugin\0[^]{20}100644 \.gitattributes\0[^]{20}100644 plugin\.json\0[^]{20}40000 skills\0[^]{20}$/
    expect(trees.filter((tree) => root.test(tree))).toHaveLength(1)
    expect(trees.filter((tree) => /^40000 pdf\0[^]{20}40000 tables\0[^]{20}$/.test(tree))).toHaveLength(1)
  })
})

describe('the repository of a pack', () => {
  it('contains pinned versions, and a separate folder for each of two skills with the same name', async () => {
    const { api, apiOf, base, createUser } = await startGit()
    await createUser('bob')
    const bob = await apiOf('bob')
    await bob.publishSkill({ skillMd: toSkillMd('tables', 'Of bob.') })
    const skills = [{ name: 'bob/tables' }, { name: 'alice/tables', version: '1.0.0' }]
    await api.createPack({ name: 'Files', slug: 'files', description: '', skills })
    const repository = `${base}/packs/files.git`
    const objects = await fetchObjects(repository, [(await listRefs(repository)).HEAD!])
    expect(readBlobTexts(objects)).toEqual([toSkillMd('tables', 'Of bob.'), textOf('1.0.0'), note].toSorted())
    const trees = [...objects.values()].map(({ bytes }) => bytes.toString('latin1'))
    expect(trees.filter((tree) => /^40000 bob-tables\0[^]{20}40000 tables\0/.test(tree))).toHaveLength(1)
  })

  it('contains only skills that the reader may see', async () => {
    const { api, base, publish, key } = await startGit()
    await publish('secret', '1.0.0', { visibility: 'private' })
    const skills = [{ name: 'alice/tables' }, { name: 'alice/secret' }]
    await api.createPack({ name: 'Files', slug: 'files', description: '', skills })
    await api.createPack({ name: 'Own', slug: 'own', description: '', skills, visibility: 'private' })
    const readHead = async (slug: string, headers: Record<string, string> = {}) => {
      const response = await fetch(`${base}/packs/${slug}.git/info/refs?service=git-upload-pack`, { headers })
      return {
        status: response.status,
        head: readPackets(new Uint8Array(await response.arrayBuffer()))[2]?.slice(0, 40),
      }
    }
    const own = { authorization: `Basic ${btoa(`git:${key}`)}` }
    const [open, whole] = [await readHead('files'), await readHead('files', own)]
    expect(open.head).not.toBe(whole.head)
    const objects = await fetchObjects(`${base}/packs/files.git`, [open.head!])
    expect(readBlobTexts(objects)).toEqual([textOf('1.0.0'), textOf('2.0.0'), note])
    await expect(fetchObjects(`${base}/packs/files.git`, [whole.head!])).rejects.toThrow('not our ref')
    expect((await readHead('own')).status).toBe(401)
    expect((await readHead('own', own)).status).toBe(200)
  })
})
