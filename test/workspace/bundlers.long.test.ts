import { nodeFileTrace } from '@vercel/nft'
import { execFile } from 'node:child_process'
import { cp, lstat, mkdir, mkdtemp, readlink, realpath, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { build as buildWithEsbuild } from 'esbuild'
import { build as buildWithRolldown } from 'rolldown'
import { build as buildWithVite } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { install, packAll } from '../support/packages.ts'

const run = promisify(execFile)
const packed = ['protocol', 'client', 'skill-format', 'scanner', 'core', 'maintenance']
/** The database addon is a native file, and `pg` is only loaded for PostgreSQL. */
const external = ['better-sqlite3', 'pg']

let scratch: string
let consumer: string
let input: string

beforeAll(async () => {
  // Paths without symbolic links: a traced file is copied to the same path below another folder.
  scratch = await realpath(await mkdtemp(join(tmpdir(), 'skillstead-bundlers-')))
  consumer = join(scratch, 'consumer')
  input = join(consumer, 'main.js')
  await install(await packAll(scratch, packed), consumer, packed)
  await cp(join(import.meta.dirname, '../fixtures/bundled/main.js'), input)
  const addon = join(import.meta.dirname, '../node_modules/better-sqlite3')
  await symlink(await realpath(addon), join(consumer, 'node_modules/better-sqlite3'))
}, 300_000)
afterAll(() => rm(scratch, { recursive: true, force: true }))

/** Each bundles the program into `folder` as `main.js`. */
const bundlers: Record<string, (folder: string) => Promise<unknown>> = {
  esbuild: (outdir) =>
    buildWithEsbuild({
      entryPoints: [input],
      outdir,
      external,
      bundle: true,
      platform: 'node',
      format: 'esm',
      splitting: true,
    }),
  rolldown: (dir) => buildWithRolldown({ input, external, platform: 'node', logLevel: 'silent', output: { dir } }),
  'Vite for servers': (outDir) =>
    buildWithVite({
      root: consumer,
      configFile: false,
      logLevel: 'silent',
      ssr: { noExternal: true, external },
      build: { ssr: input, outDir, emptyOutDir: true },
    }),
}

interface Result {
  readonly degraded: readonly string[]
}

/** Runs the program in a folder of its own, and returns what it prints. */
async function start(program: string, ...args: string[]): Promise<Result> {
  const cwd = await mkdtemp(join(scratch, 'data-'))
  const { stdout } = await run(process.execPath, [program, ...args], { cwd })
  return JSON.parse(stdout) as Result
}

/** What the program prints if everything works; `degraded` has the reports of `onDegraded`. */
const toResult = (degraded: readonly unknown[]) => ({
  found: [{ fullName: 'alice/tea', securityScore: 100 }],
  isTruncated: true,
  verdict: 'safe',
  hasBackup: true,
  degraded,
})

describe.each(Object.keys(bundlers))('a program bundled with %s', (name) => {
  let folder: string

  beforeAll(async () => {
    folder = join(consumer, `with-${name.replaceAll(' ', '-')}`)
    await bundlers[name]!(folder)
  })

  it('works without the files of worker threads, and reports the missing files once', async () => {
    expect(await start(join(folder, 'main.js'))).toEqual(
      toResult([expect.stringContaining('pass its URL as `threads`')]),
    )
  })

  it('starts no threads with `inline`, and reports nothing', async () => {
    expect(await start(join(folder, 'main.js'), 'inline')).toEqual(toResult([]))
  })

  it('starts worker threads from a copied folder', async () => {
    await cp(join(consumer, 'node_modules/@skillstead/core/dist/threads'), join(folder, 'copied'), { recursive: true })
    expect(await start(join(folder, 'main.js'), './copied/')).toEqual(toResult([]))
  })
})

describe('a program traced by @vercel/nft', () => {
  it('has its worker threads', async () => {
    const { fileList } = await nodeFileTrace([input], { base: '/' })
    const traced = join(scratch, 'traced')
    for (const path of fileList) await copyTraced(join('/', path), join(traced, path))
    expect(await start(join(traced, input))).toEqual(toResult([]))
  })
})

/** Copies a file, or a symbolic link with the same target. */
async function copyTraced(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true })
  if ((await lstat(from)).isSymbolicLink()) await symlink(await readlink(from), to)
  else await cp(from, to)
}
