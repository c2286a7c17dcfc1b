import { execFileSync } from 'node:child_process'
import { chmod, chown, lchown, lstat, mkdir, readFile, readdir, stat, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { openCache } from '../../packages/cli/src/install/cache.ts'
import {
  makeFolder,
  skillstead,
  skillsteadJson,
  skillsteadProcess,
  startServer,
  type Running,
} from '../support/cli-harness.ts'

const isRoot = process.getuid?.() === 0
const [self, neighbour] = [20_001, 20_002]

/** Tests run as root, who may use the files of all users. */
function actAs(uid: number): void {
  const spy = vi.spyOn(process, 'getuid').mockReturnValue(uid)
  onTestFinished(() => spy.mockRestore())
}

describe.skipIf(process.platform === 'win32')('a folder that other users of the machine may write', () => {
  let server: Running
  let key: string
  beforeAll(async () => {
    const data = join(await makeFolder(), 'data')
    key = (await skillsteadJson<{ key: string }>(['users', 'create', 'alice', '--data', data])).key
    server = await startServer(['serve', '--port', '0', '--data', data])
  })

  const login = (config: string) =>
    skillstead(['login', '--url', server.url], { env: { XDG_CONFIG_HOME: config }, input: `${key}\n` })

  it.skipIf(!isRoot)('is refused for a registry if another user owns a folder or link on its path', async () => {
    const shared = await makeFolder()
    await chmod(shared, 0o1777)
    const placed = join(shared, 'placed')
    const elsewhere = join(await makeFolder(), 'elsewhere')
    for (const folder of [placed, elsewhere]) {
      await mkdir(folder)
      await chown(folder, neighbour, neighbour)
      await chmod(folder, 0o777)
    }
    await symlink(elsewhere, join(shared, 'link'))
    await lchown(join(shared, 'link'), neighbour, neighbour)
    const own = join(await makeFolder(), 'own link')
    await symlink(join(shared, 'link/below'), own)
    for (const [data, named] of [
      ['placed', 'placed'],
      ['placed/below/data', 'placed'],
      ['link', 'link'],
      [own, 'link'],
    ] as const) {
      const refused = await skillstead(['users', 'create', 'bob', '--data', resolve(shared, data)])
      expect(refused).toMatchObject({ code: 1, stdout: '' })
      expect(refused.stderr).toContain(
        `${join(shared, named)} belongs to another user, who can replace the files in it.`,
      )
    }
    expect(await readdir(elsewhere)).toEqual([])
    expect((await skillstead(['users', 'create', 'bob', '--data', join(shared, 'own')])).code).toBe(0)
    // Not in a shared folder: its owner was chosen by the operator, as in a container.
    expect((await skillstead(['users', 'create', 'bob', '--data', elsewhere])).code).toBe(0)
  })

  it('can have links in it, and commands write no file through these links', async () => {
    const config = await makeFolder()
    const victim = join(config, 'victim')
    await writeFile(victim, 'unchanged')
    await mkdir(join(config, 'skillstead'))
    await symlink(victim, join(config, 'skillstead', `credentials.json.${process.pid}.tmp`))
    expect((await login(config)).code).toBe(0)
    expect(await readFile(victim, 'utf8')).toBe('unchanged')
    expect(await readFile(join(config, 'skillstead', 'credentials.json'), 'utf8')).toContain(key)

    const cwd = await makeFolder()
    await mkdir(join(cwd, '.skillstead'), { mode: 0o777 })
    await symlink(join(config, 'made'), join(cwd, '.skillstead', 'admin-key'))
    const refused = await skillsteadProcess(['start', '--port', '0'], { cwd })
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('EEXIST') })
    await expect(lstat(join(config, 'made'))).rejects.toThrow('ENOENT')
  })

  it('is refused for logins, pinned keys and skills.lock if other users own or can change these files', async () => {
    const config = await makeFolder()
    const env = { XDG_CONFIG_HOME: config }
    expect((await login(config)).code).toBe(0)
    const folder = join(config, 'skillstead')
    const [known, lock] = [join(folder, 'known-keys.json'), join(folder, 'skills.lock')]
    await writeFile(known, '{}')
    await writeFile(lock, JSON.stringify({ version: 1, skills: {} }))
    const commands = [
      [known, ['verify', 'alice/none', '--url', server.url]],
      [lock, ['list', '--global']],
    ] as const
    for (const [file, args] of commands) {
      await chmod(file, 0o622)
      const { code, stderr } = await skillstead(args, { env })
      expect([code, stderr]).toEqual([1, expect.stringContaining(`Other users of this machine can change ${file}`)])
      await chmod(file, 0o600)
      expect((await skillstead(args, { env })).stderr).not.toContain(file)
    }
    if (!isRoot) return
    actAs(self)
    const search = ['search', 'none', '--url', server.url] as const
    for (const [file, args] of [...commands, [join(folder, 'credentials.json'), search] as const]) {
      await chown(file, neighbour, neighbour)
      const { code, stderr } = await skillstead(args, { env })
      expect([code, stderr]).toEqual([1, expect.stringContaining(`${file} belongs to another user of this machine`)])
      await chown(file, self, self)
      expect((await skillstead(args, { env })).stderr).not.toContain(file)
    }
  })

  it('can have a pipe in place of a cached package, and no command waits for the pipe', async () => {
    const root = await makeFolder()
    const digest = `sha256:${'0'.repeat(64)}`
    const file = join(root, 'sha256', `${'0'.repeat(64)}.zip`)
    await mkdir(join(root, 'sha256'))
    execFileSync('mkfifo', [file])
    expect(await openCache(root).find(digest)).toBeUndefined()
    await expect(stat(file)).rejects.toThrow('ENOENT')
  })
})
