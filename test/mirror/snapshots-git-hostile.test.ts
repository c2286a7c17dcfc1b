import { execFileSync, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { refusalOf } from '../support/answers.ts'
import { describeInTurn } from '../support/harness.ts'
import { endMirrors, openMirror } from '../support/mirror-harness.ts'
import { openStandIn } from '../support/stand-in.ts'

const folders: string[] = []
afterEach(async () => {
  await endMirrors()
  vi.unstubAllEnvs()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

const hasGit = spawnSync('git', ['--version']).status === 0

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'skillstead-test-'))
  folders.push(folder)
  return folder
}

function put(folder: string, path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}

function toSkillMd(name: string): string {
  return `---\nname: ${name}\ndescription: Does ${name}\n---\n# ${name}\n\nDoes it.\n`
}

/** Runs git without the settings of any user, and returns its output. */
function git(folder: string, args: readonly string[], input = ''): string {
  const env = { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: '1' }
  const identity = [
    'user.name=ann',
    'user.email=ann@example.com',
    'init.defaultBranch=main',
    'protocol.file.allow=always',
  ]
  const settings = identity.flatMap((setting) => ['-c', setting])
  return execFileSync('git', [...settings, ...args], { cwd: folder, env, input, stdio: 'pipe' })
    .toString()
    .trim()
}

function commit(folder: string): void {
  git(folder, ['add', '--all'])
  git(folder, ['commit', '--quiet', '--message', 'change'])
}

function makeRepository(name = 'pdf'): string {
  const folder = makeFolder()
  git(folder, ['init', '--quiet'])
  put(folder, `${name}/SKILL.md`, toSkillMd(name))
  commit(folder)
  return folder
}

const title = hasGit
  ? 'a mirror of a hostile git repository'
  : 'a mirror of a hostile git repository: skipped because git is not installed'
describe.skipIf(!hasGit)(`${title}`, () => {
  describeInTurn('with a hostile server', (open) => {
    it('does not follow submodules', async () => {
      const [repository, inner] = [makeRepository(), makeRepository('inner')]
      git(repository, ['submodule', '--quiet', 'add', inner, 'pdf/inner'])
      commit(repository)
      const { mirror, test } = await openMirror(open)
      await mirror.add('repo', repository, { kind: 'git', filters: { owners: ['ann'] } })
      expect(await mirror.sync('repo')).toMatchObject({ applied: 1, refusedTotal: 0 })
      expect((await test.api().getSkill({ name: 'ann/pdf' })).files.map(({ path }) => path)).toEqual(['SKILL.md'])
    })

    it('stops reading at the limit of files in a repository of ten billion files', async () => {
      const repository = makeRepository()
      let entry = `100644 blob ${git(repository, ['hash-object', '-w', '--stdin'], 'x')}\tx`
      for (let depth = 0; depth < 10; depth += 1) {
        const lines = Array.from({ length: 10 }, (_, i) => entry.replace(/\tx$/, `\t${i}`))
        entry = `040000 tree ${git(repository, ['mktree'], `${lines.join('\n')}\n`)}\tx`
      }
      const [, , tree] = entry.split(/\s/)
      const head = git(repository, ['commit-tree', '-m', 'many', tree!])
      git(repository, ['update-ref', 'HEAD', head])
      const { mirror } = await openMirror(open)
      await mirror.add('repo', repository, { kind: 'git' })
      expect(await refusalOf(mirror.sync('repo'))).toMatchObject({
        code: 'upstream_failed',
        message: 'The output of git exceeds the maximum size.',
      })
    })

    it.each([
      'ssh://-oProxyCommand=touch%20pwned/x',
      'ssh://ann@-oProxyCommand=touch%20pwned/x',
      'ann@-oProxyCommand=x:y',
    ])('rejects a host that git would read as an option: %s', async (location) => {
      const { mirror } = await openMirror(open)
      const refused = mirror.add('repo', location, { kind: 'git' }).then(() => mirror.sync('repo'))
      expect(['invalid_request', 'upstream_failed']).toContain((await refusalOf(refused)).code)
      expect(existsSync('pwned')).toBe(false)
    })

    it('gives up if the server asks for a password or redirects', async () => {
      const elsewhere = await openStandIn((_, response) => response.writeHead(404).end())
      const closed = await openStandIn((_, response) =>
        response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end(),
      )
      const moved = await openStandIn((_, response) => response.writeHead(302, { location: elsewhere.url }).end())
      const { mirror } = await openMirror(open)
      for (const [name, { url }] of Object.entries({ closed, moved })) {
        await mirror.add(name, `${url}/skills.git`, { kind: 'git' })
        expect(await refusalOf(mirror.sync(name))).toMatchObject({
          code: 'upstream_failed',
          message: expect.stringMatching(/^git failed: /),
        })
      }
      expect(elsewhere.requests).toEqual([])
    })

    it('leaves no process behind if the server never responds', async () => {
      let waiting = 0
      const silent = await openStandIn((request) => {
        waiting += 1
        request.socket.once('close', () => (waiting -= 1))
      })
      const { mirror } = await openMirror(open)
      await mirror.add('repo', `${silent.url}/skills.git`, { kind: 'git' })
      const ending = new AbortController()
      const ended = refusalOf(mirror.sync('repo', { signal: ending.signal }))
      await expect.poll(() => waiting).toBe(1)
      ending.abort()
      expect(await ended).toMatchObject({ code: 'shutting_down' })
      await expect.poll(() => waiting).toBe(0)
    })
  })
})

describe.skipIf(!hasGit)('a temporary folder that a killed git sync left', () => {
  describeInTurn('on a node', (open) => {
    it('is deleted by the next sync, which deletes nothing else', async () => {
      const { mirror } = await openMirror(open)
      const repository = makeRepository()
      const place = makeFolder()
      vi.stubEnv('TMPDIR', place)
      const kept = ['skillstead-git-fresh1', 'skillstead-git-other-name', 'of-another-program']
      for (const name of ['skillstead-git-left01', ...kept]) put(place, `${name}/objects/pack`, 'x')
      put(place, 'skillstead-git-afile0', 'x')
      symlinkSync(repository, join(place, 'skillstead-git-alink0'))
      for (const name of readdirSync(place)) {
        if (name !== 'skillstead-git-fresh1') utimesSync(join(place, name), 1, 1)
      }
      await mirror.add('repo', repository, { kind: 'git' })
      expect(await mirror.sync('repo')).toMatchObject({ applied: 1 })
      expect(readdirSync(place).toSorted()).toEqual(
        [...kept, 'skillstead-git-afile0', 'skillstead-git-alink0'].toSorted(),
      )
      expect(existsSync(join(repository, 'pdf', 'SKILL.md'))).toBe(true)
    })
  })
})
