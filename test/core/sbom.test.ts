import { beforeAll, describe, expect, it } from 'vitest'
import { readBytes } from '@skillstead/skill-format/archives'
import { codeOf, skillMd } from '../support/answers.ts'
import { addCollaborator } from '../support/collaboration.ts'
import { describeMatrix, type TestRegistry, type TestUser } from '../support/harness.ts'
import { listFacts, readSbom } from '../support/read-sbom.ts'

const packageJson = JSON.stringify({ dependencies: { zod: '4.1.0' } })

const publish = (user: TestUser, name: string, more: object = {}) =>
  user.api.publishSkill({
    skillMd: skillMd(name, { body: 'Run `git status` and read $TEA_TOKEN.' }),
    files: [
      { path: 'package.json', content: packageJson },
      { path: 'run.sh', content: '#!/bin/sh\ncurl https://api.github.com\n' },
    ],
    ...more,
  })
describeMatrix('bills of materials', (open, { transport }) => {
  let test: TestRegistry
  let alice: TestUser
  let bob: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    bob = await test.makeUser('bob')
  })

  const readText = async (name: string, version = '1.0.0', api = test.api()) =>
    Buffer.from(await readBytes(await api.getSbom({ name, version }))).toString()

  it('have the skill with digest, verdict, access, publisher and licence, its files and its packages', async () => {
    const { version } = await publish(alice, 'tea', { license: 'Apache-2.0' })
    const document = readSbom(await readText('tea'))
    const { component, timestamp } = document.metadata
    expect(timestamp).toBe('2026-01-02T12:00:00.000Z')
    expect(component).toMatchObject({
      group: 'alice',
      name: 'tea',
      version: '1.0.0',
      publisher: 'alice',
      purl: 'pkg:generic/alice/tea@1.0.0',
      licenses: [{ license: { id: 'Apache-2.0' } }],
    })
    expect(listFacts(component, 'digest')).toEqual([version.digest])
    expect(listFacts(component, 'verdict')).toEqual([version.security!.verdict])
    expect(listFacts(component, 'score')).toEqual([String(version.security!.score)])
    expect(listFacts(component, 'access:commands')).toEqual(version.access!.commands)
    expect(listFacts(component, 'access:hosts')).toEqual(['api.github.com'])
    expect(listFacts(component, 'yanked')).toEqual([])
    const files = document.components.filter(({ type }) => type === 'file')
    expect(files.map(({ name, hashes }) => ({ path: name, hashes }))).toEqual(
      version.files.map(({ path, digest }) => ({ path, hashes: [{ alg: 'SHA-256', content: digest.slice(7) }] })),
    )
    expect(files.filter((file) => listFacts(file, 'executable').length > 0).map(({ name }) => name)).toEqual(['run.sh'])
    expect(document.components.flatMap(({ purl }) => purl ?? [])).toEqual(['pkg:npm/zod@4.1.0'])
  })

  it('contain the requirements of the version, and its recall', async () => {
    const requires = '{ skills: { lib: ^1.0.0, bob/tool: "*" }, commands: [git], mcpServers: [github], env: [TOKEN] }'
    const needy = `---\nname: needy\ndescription: Needs others\nmetadata:\n  requires: ${requires}\n---\n`
    await alice.api.publishSkill({ skillMd: needy })
    await alice.api.recallSkill({ name: 'needy', range: '1.0.0', reason: 'It deletes files.' })
    const { metadata, components, dependencies } = readSbom(await readText('needy'))
    expect(
      ['recalled', 'requires:command', 'requires:mcp-server', 'requires:env'].map((fact) =>
        listFacts(metadata.component, fact),
      ),
    ).toEqual([['It deletes files.'], ['git'], ['github'], ['TOKEN']])
    const required = components.filter(({ type }) => type === 'application')
    expect(required.map((one) => [one['bom-ref'], one.purl, listFacts(one, 'required')])).toEqual([
      ['required:lib', 'pkg:generic/lib', ['pkg:generic/alice/needy@1.0.0 ^1.0.0']],
      ['required:bob/tool', 'pkg:generic/bob/tool', ['pkg:generic/alice/needy@1.0.0 *']],
    ])
    expect(dependencies.find(({ ref }) => ref === metadata.component['bom-ref'])!.dependsOn).toEqual([
      'required:lib',
      'required:bob/tool',
    ])
  })

  it('are the same for every reader and every time, until the version changes its state', async () => {
    await publish(alice, 'same')
    const text = await readText('same')
    test.clock.advance(60_000)
    expect(await readText('alice/same', '1.0.0', bob.api)).toBe(text)
    expect(await readText('same', 'latest')).toBe(text)
    await alice.api.yankVersion({ name: 'same', version: '1.0.0' })
    const yanked = readSbom(await readText('same'))
    expect(listFacts(yanked.metadata.component, 'yanked')).toEqual(['true'])
    expect(yanked.serialNumber).not.toBe(readSbom(text).serialNumber)
  })

  it('contain later changes of the metadata by the owner only for the latest version', async () => {
    await publish(alice, 'changed', { license: 'MIT' })
    await publish(alice, 'changed', { license: 'MIT', files: [] })
    await alice.api.publishSkill({ name: 'changed', license: 'BSD-3-Clause' })
    const [first, second] = [await readText('changed', '1.0.0'), await readText('changed', '1.0.1')].map(readSbom)
    expect(first!.metadata.component.licenses).toMatchObject([{ license: { id: 'MIT' } }])
    expect(second!.metadata.component.licenses).toMatchObject([{ license: { id: 'BSD-3-Clause' } }])
  })

  it('name the version that a skill was forked from, if the reader may see it', async () => {
    await publish(alice, 'origin')
    await addCollaborator(test, alice, { name: 'origin', username: 'bob', role: 'read' })
    await bob.api.forkSkill({ name: 'alice/origin', newName: 'copy' })
    const forkedFrom = async (api = test.api()) =>
      listFacts(readSbom(await readText('bob/copy', '1.0.0', api)).metadata.component, 'forked-from')
    expect(await forkedFrom()).toEqual([expect.stringMatching(/^alice\/origin@1\.0\.0 sha256:/)])
    await alice.api.publishSkill({ name: 'origin', visibility: 'private' })
    expect(await forkedFrom()).toEqual([])
    expect(await forkedFrom(bob.api)).toHaveLength(1)
  })

  it('name the files that could not be read', async () => {
    const files = [
      { path: 'package.json', content: '{' },
      { path: 'uv.lock', content: 'version = 1' },
      { path: 'requirements.txt', content: `${'x'.repeat(300)}==1\n\u001b[2Jevil\nsix` },
    ]
    await publish(alice, 'damaged', { files })
    const document = readSbom(await readText('damaged'))
    const unread = listFacts(document.metadata.component, 'not-read')
    expect(unread.map((sentence) => sentence.split(':')[0])).toEqual(
      expect.arrayContaining(['package.json', 'uv.lock', 'requirements.txt']),
    )
    expect(unread.join('')).not.toMatch(/\p{Cc}/u)
    expect(document.components.flatMap(({ purl }) => purl ?? [])).toEqual(['pkg:pypi/six'])
  })

  it('are only available to callers who may read the version', async () => {
    await publish(alice, 'secret', { visibility: 'private' })
    const input = { name: 'alice/secret', version: '1.0.0' }
    for (const api of [test.api(), bob.api]) expect(await codeOf(api.getSbom(input))).toBe('not_found')
    readSbom(await readBytes(await alice.api.getSbom(input)))
    const { token } = await alice.api.createShare({ name: 'secret' })
    const shared = await test.apiWith({ shareToken: token }).getSbom(input)
    readSbom(await readBytes(shared))
    expect(await codeOf(alice.api.getSbom({ name: 'secret', version: '9.9.9' }))).toBe('not_found')
    expect(await codeOf(alice.api.getSbom({ name: 'secret', version: 'one' }))).toBe('invalid_request')
  })

  it.runIf(transport === 'HTTP')('are cacheable downloads with the media type of CycloneDX', async () => {
    await publish(alice, 'cached')
    const path = '/api/v1/skills/alice/cached/versions/1.0.0/sbom'
    const answer = await test.request(path)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('application/vnd.cyclonedx+json; version=1.6')
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="cached-1.0.0.cdx.json"')
    expect(answer.headers.get('cache-control')).toBe('no-cache')
    const etag = answer.headers.get('etag')!
    expect((await test.request(path, { headers: { 'if-none-match': etag } })).status).toBe(304)
    expect((await test.request(path, { method: 'HEAD' })).headers.get('etag')).toBe(etag)
    expect((await alice.api.getDownloads({ name: 'cached' })).total, 'no download of the skill').toBe(0)
  })

  describe('of hostile skills', () => {
    it('are limited in size', async () => {
      const dependencies = Object.fromEntries(
        Array.from({ length: 10_000 }, (_, i) => [`package-${i}`, '9'.repeat(20)]),
      )
      await publish(alice, 'many', { files: [{ path: 'package.json', content: JSON.stringify({ dependencies }) }] })
      const text = await readText('many')
      const document = readSbom(text)
      expect(text.length).toBeLessThan(2_000_000)
      expect(document.components).toHaveLength(1002)
      expect(listFacts(document.metadata.component, 'not-read')).toContain('9000 more packages are not listed.')
    })
  })
})
