import { partsOf } from '@skillstead/core/internal'
import { readArchive } from '@skillstead/skill-format/archives'
import { beforeAll, expect, it } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { describeMatrix, type TestRegistry, type TestUser } from '../support/harness.ts'
import { sampleOf } from '../support/security-samples.ts'

const script = '#!/bin/sh\necho hi\n'
const files = [
  { path: 'a.txt', content: 'Text.' },
  { path: 'hi.sh', content: script },
]

describeMatrix('executable files', (open) => {
  let test: TestRegistry
  let alice: TestUser
  beforeAll(async () => {
    test = await open({ scanPolicy: { caution: 'warn', dangerous: 'quarantine' } })
    alice = await test.makeUser('alice')
  })
  const modesOf = async (name: string) => {
    const { files: listed } = await alice.api.getSkill({ name })
    return Object.fromEntries(listed.flatMap(({ path, executable }) => (executable ? [[path, executable]] : [])))
  }

  it('in a JSON publish are the files that begin with `#!`, unless the request sets the field `executable`', async () => {
    const published = await alice.api.publishSkill({
      skillMd: skillMd('json'),
      files: [
        ...files,
        { path: 'plain.sh', content: script, executable: false },
        { path: 'tool', content: 'AAAA', encoding: 'base64', executable: true },
        { path: 'late.sh', content: ` ${script}` },
        { path: 'empty', content: '' },
        { path: 'half', content: '#' },
      ],
    })
    const listed = [...published.version.files]
    expect(listed.filter(({ executable }) => executable).map(({ path }) => path)).toEqual(['hi.sh', 'tool'])
    // Left out where it is false.
    expect(listed.filter((file) => 'executable' in file)).toHaveLength(2)
    expect(await modesOf('json')).toEqual({ 'hi.sh': true, tool: true })
    const { files: shown } = await alice.api.getSkill({ name: 'json' })
    expect(shown).toEqual(listed)
    const { entries } = await test.api().getFeed({})
    expect(entries.at(-1)!.data['files']).toEqual(listed)
  })

  it('are in the response of a dry run, and `executable` must be a boolean', async () => {
    const { version } = await alice.api.publishSkill({ skillMd: skillMd('dry'), files, dryRun: true })
    expect(version.files).toMatchObject([{ path: 'SKILL.md' }, { path: 'a.txt' }, { path: 'hi.sh', executable: true }])
    const wrong = [{ ...files[0]!, executable: 'yes' as never }]
    await expect(alice.api.publishSkill({ skillMd: skillMd('dry'), files: wrong })).rejects.toMatchObject({
      code: 'invalid_request',
      errors: [{ path: 'files.0.executable' }],
    })
  })

  it('have their mode in the archive, and publishing the archive again keeps the mode', async () => {
    const { version } = await alice.api.publishSkill({ skillMd: skillMd('zip'), files, version: '1.0.0' })
    const { body } = await alice.api.getArchive({ name: 'zip' })
    const { files: read } = await readArchive(body as Uint8Array, 'zip')
    expect(read.map(({ path, executable }) => [path, executable])).toEqual([
      ['a.txt', false],
      ['hi.sh', true],
    ])
    const archive = { contentType: 'application/zip' as const, body: body as Uint8Array<ArrayBuffer> }
    const again = await alice.api.publishSkill({ archive })
    expect(again).toMatchObject({ created: false, version: { version: '1.0.0', digest: version.digest } })
  })

  it('make a new version if only the executable bit changes, and the diff shows the change', async () => {
    const digests = []
    for (const executable of [true, false, true]) {
      const changed = [files[0]!, { ...files[1]!, executable }]
      const { version, created } = await alice.api.publishSkill({ skillMd: skillMd('bit'), files: changed })
      expect(created).toBe(true)
      digests.push(version.digest)
    }
    expect(digests[0]).toBe(digests[2])
    expect(digests[1]).not.toBe(digests[0])
    const there = await alice.api.publishSkill({ skillMd: skillMd('bit'), files })
    expect(there).toMatchObject({ created: false, version: { version: '1.0.2' } })
    const lost = await alice.api.diffSkill({ name: 'bit', from: '1.0.0', to: '1.0.1' })
    expect(lost.files).toMatchObject([{ path: 'hi.sh', status: 'changed', executable: false, binary: false }])
    expect(lost.files[0]!.diff).toBe('diff --git a/hi.sh b/hi.sh\nold mode 100755\nnew mode 100644\n')
    const got = await alice.api.diffSkill({ name: 'bit', from: '1.0.1', to: '1.0.2' })
    expect(got.files).toMatchObject([{ path: 'hi.sh', executable: true }])
    expect((await alice.api.diffSkill({ name: 'bit', from: '1.0.0', to: '1.0.2' })).files).toEqual([])
  })

  it('are reported as added by a patch release, and stay executable in a fork', async () => {
    await alice.api.publishSkill({ skillMd: skillMd('added'), version: '1.0.0' })
    await alice.api.publishSkill({ skillMd: skillMd('added'), version: '1.1.0', files })
    const { files: changed } = await alice.api.diffSkill({ name: 'added', from: '1.0.0', to: '1.1.0' })
    expect(changed).toMatchObject([{ path: 'a.txt' }, { path: 'hi.sh', status: 'added', executable: true }])
    expect(changed[0]).not.toHaveProperty('executable')
    expect(changed[1]!.diff).toContain('new file mode 100755\n')
    const { files: back } = await alice.api.diffSkill({ name: 'added', from: '1.1.0', to: '1.0.0' })
    expect(back[1]).not.toHaveProperty('executable')
    await alice.api.forkSkill({ name: 'added', newName: 'forked' })
    expect(await modesOf('forked')).toEqual({ 'hi.sh': true })
  })

  it('keep the executable bit while the version is in quarantine and after its release', async () => {
    const { quarantined, version } = await alice.api.publishSkill({ skillMd: sampleOf('dangerous', 'held'), files })
    const judge = await test.makeUser('judge', { role: 'admin' })
    const { id } = quarantined!
    const { files: listed } = await judge.api.getQuarantined({ id })
    expect(listed).toEqual(version.files)
    expect(listed.at(-1)).toMatchObject({ path: 'hi.sh', executable: true })
    const released = await judge.api.releaseQuarantined({ id })
    expect(released.version).toMatchObject({ digest: version.digest, files: version.files })
  })

  it('are stored with a flag in the row of the file', async () => {
    await alice.api.publishSkill({ skillMd: skillMd('rows'), files })
    const rows = await partsOf(test.registry)
      .database.read.selectFrom('version_files')
      .innerJoin('versions', 'versions.id', 'version_files.version_id')
      .innerJoin('skills', 'skills.id', 'versions.skill_id')
      .select(['path', 'executable'])
      .where('skills.name', '=', 'rows')
      .execute()
    expect(rows.toSorted((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
      { path: 'SKILL.md', executable: 0 },
      { path: 'a.txt', executable: 0 },
      { path: 'hi.sh', executable: 1 },
    ])
  })
})
