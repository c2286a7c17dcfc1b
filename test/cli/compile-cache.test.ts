import { chmod, chown, mkdir, readdir, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { mainFile, makeFolder, runFile } from '../support/cli-harness.ts'

const packages = join(import.meta.dirname, '../../packages')

interface Machine {
  readonly temporary: string
  readonly home: string
  readonly cache: string
  run(file?: string): Promise<void>
}

async function makeMachine(): Promise<Machine> {
  const folder = await makeFolder()
  const [temporary, home] = [join(folder, 'tmp'), join(folder, 'home')]
  await Promise.all([mkdir(temporary), mkdir(home)])
  return {
    temporary,
    home,
    cache: join(home, '.cache/skillstead/compiled'),
    async run(file = mainFile) {
      const env = { TMPDIR: temporary, HOME: home, NODE_COMPILE_CACHE: undefined }
      const { code, stdout } = await runFile(file, ['--version'], { env })
      expect(code).toBe(0)
      expect(stdout).toMatch(/\d/)
    },
  }
}

describe.skipIf(process.platform === 'win32')('the cache of compiled code', () => {
  it.each(['cli/src/main.ts', 'cli/clone/main.js', 'scanner/src/main.ts'])(
    'is not in the temporary folder, which all users of the machine can write: %s',
    async (file) => {
      const machine = await makeMachine()
      await machine.run(join(packages, file))
      await machine.run(join(packages, file))
      expect(await readdir(machine.temporary)).toEqual([])
    },
  )

  it('is in a folder that only its user can open', async () => {
    const machine = await makeMachine()
    await machine.run()
    expect((await stat(machine.cache)).mode & 0o777).toBe(0o700)
    expect(await readdir(machine.cache)).not.toEqual([])
  })

  it('is not used if other users can write to its folder, or replace a parent folder', async () => {
    const machine = await makeMachine()
    await mkdir(machine.cache, { recursive: true })
    await chmod(machine.cache, 0o777)
    await machine.run()
    expect(await readdir(machine.cache)).toEqual([])

    await chmod(machine.cache, 0o700)
    await chmod(join(machine.cache, '../..'), 0o777)
    await machine.run()
    expect(await readdir(machine.cache)).toEqual([])

    await chmod(join(machine.cache, '../..'), 0o1777)
    await machine.run()
    expect(await readdir(machine.cache)).not.toEqual([])
  })

  it('is not used through a link into a folder of another user', async () => {
    const machine = await makeMachine()
    const shared = join(machine.temporary, 'prepared')
    await mkdir(join(shared, 'compiled'), { recursive: true })
    await chmod(join(shared, 'compiled'), 0o700)
    await chmod(shared, 0o777)
    await mkdir(join(machine.cache, '../..'), { recursive: true })
    await symlink(shared, join(machine.cache, '..'))
    await machine.run()
    expect(await readdir(join(shared, 'compiled'))).toEqual([])
  })

  const isRoot = process.getuid?.() === 0
  it.skipIf(!isRoot)('is not written to the home folder of another user (tested only as root)', async () => {
    const machine = await makeMachine()
    await chown(machine.home, 12_345, 12_345)
    await machine.run()
    expect(await readdir(machine.home)).toEqual([])
  })

  it.skipIf(!isRoot)('is not used if another user created the cache folder (tested only as root)', async () => {
    const machine = await makeMachine()
    await mkdir(machine.cache, { recursive: true })
    await chmod(machine.cache, 0o700)
    await chown(machine.cache, 12_345, 12_345)
    await machine.run()
    expect(await readdir(machine.cache)).toEqual([])
  })
})
