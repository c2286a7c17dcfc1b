import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { importBundle } from '@skillstead/mirror'
import { afterEach, expect, it, onTestFinished } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { bundleOf, openPublisher } from '../support/bundle-acts.ts'
import { describeDatabases, type TestRegistry } from '../support/harness.ts'
import { endMirrors, openMirror, openUpstream } from '../support/mirror-harness.ts'

afterEach(endMirrors)

const script = '#!/bin/sh\necho hi\n'
const files = [
  { path: 'lib.py', content: script, executable: false },
  { path: 'run.sh', content: script },
  { path: 'tool', content: 'tool', executable: true },
]
/** A list of files that is too long for an entry of the log. */
const long = Array.from({ length: 400 }, (_, i) => ({
  path: `${'a-long-name-'.repeat(12)}${i}`,
  content: `${i}`,
  executable: i % 3 === 0,
}))

const readFiles = async ({ api }: Pick<TestRegistry, 'api'>, name: string) => {
  const { digest, files: listed } = await api().getVersion({ name, version: '1.0.0' })
  return { digest, listed }
}

describeDatabases('executable files', (open) => {
  it('stay executable in a mirror of a node, and in a mirror of the mirror', async () => {
    const { alice, test: origin, url } = await openUpstream(open)
    await alice.api.publishSkill({ skillMd: skillMd('tea'), version: '1.0.0', files })
    await alice.api.publishSkill({ skillMd: skillMd('many'), version: '1.0.0', files: long })
    const { mirror, test } = await openMirror(open)
    await mirror.add('main', url)
    expect(await mirror.sync('main')).toMatchObject({ applied: 2, refusedTotal: 0 })
    for (const name of ['alice/tea', 'alice/many'])
      expect(await readFiles(test, name)).toEqual(await readFiles(origin, name))
    const { listed } = await readFiles(test, 'alice/tea')
    expect(listed.flatMap(({ path, executable }) => (executable ? [path] : []))).toEqual(['run.sh', 'tool'])
    const { listed: many } = await readFiles(test, 'alice/many')
    expect(many.filter(({ executable }) => executable)).toHaveLength(134)
  })

  it('stay executable in a bundle', async () => {
    const origin = await openPublisher(open)
    await origin.alice.api.publishSkill({ skillMd: skillMd('tea'), version: '1.0.0', files })
    await origin.alice.api.publishSkill({ skillMd: skillMd('many'), version: '1.0.0', files: long })
    const away = await open({ origin: 'away.example', works: false })
    expect(await importBundle(away.registry, await bundleOf(origin))).toMatchObject({ applied: 2, refusedTotal: 0 })
    for (const name of ['alice/tea', 'alice/many'])
      expect(await readFiles(away, name)).toEqual(await readFiles(origin.test, name))
  })

  it.skipIf(spawnSync('git', ['--version']).status !== 0)('stay executable in mirrors of folders and git', async () => {
    const top = mkdtempSync(join(tmpdir(), 'skillstead-test-'))
    onTestFinished(() => rmSync(top, { recursive: true, force: true }))
    const folder = join(top, 'acme', 'skills')
    mkdirSync(join(folder, 'tea'), { recursive: true })
    writeFileSync(join(folder, 'tea/SKILL.md'), skillMd('tea'))
    for (const { path, content, executable = true } of files) {
      writeFileSync(join(folder, 'tea', path), content)
      chmodSync(join(folder, 'tea', path), executable ? 0o755 : 0o644)
    }
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=ann', '-c', 'user.email=ann@example.com', ...args], {
        cwd: folder,
        env: { PATH: process.env.PATH, HOME: top, GIT_CONFIG_NOSYSTEM: '1' },
      })
    git('init', '--quiet')
    git('add', '--all')
    git('commit', '--quiet', '--message', 'one')
    const kinds = ['folder', 'git'] as const
    const mirrors = await Promise.all(kinds.map(() => openMirror(open)))
    const sync = async () => {
      const found = []
      for (const { mirror, test } of mirrors) {
        await mirror.sync('source')
        const { skills } = await test.api().searchSkills({})
        const { latestVersion, files: listed } = await test.api().getSkill({ name: skills[0]!.fullName })
        found.push([latestVersion, listed.flatMap(({ path, executable }) => (executable ? [path] : []))])
      }
      return found
    }
    for (const [at, kind] of kinds.entries()) await mirrors[at]!.mirror.add('source', folder, { kind })
    const first = ['1.0.0', ['run.sh', 'tool']]
    expect(await sync()).toEqual([first, first])
    // Only a bit changes.
    chmodSync(join(folder, 'tea/lib.py'), 0o755)
    git('commit', '--quiet', '--all', '--message', 'two')
    const second = ['1.0.1', ['lib.py', 'run.sh', 'tool']]
    expect(await sync()).toEqual([second, second])
  })
})
