import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { makeFolder, skillstead, skillsteadJson } from '../support/cli-harness.ts'

const main = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url))

/** A folder with a registry that has the example skills, its key, and a place for bundles and another registry. */
async function openOutside() {
  const folder = await makeFolder()
  const [outside, inside] = [join(folder, 'outside'), join(folder, 'inside')]
  await skillsteadJson(['examples', '--data', outside])
  const { keys } = await skillsteadJson<{ keys: [string] }>(['key', '--data', outside])
  const run = (...args: string[]) => skillstead(args, { cwd: folder })
  const runJson = (...args: string[]) => skillsteadJson<Record<string, unknown>>(args, { cwd: folder })
  return { folder, outside, inside, key: keys[0], run, runJson }
}

describe('the commands for bundles', () => {
  it('write, show, verify and import a bundle', async () => {
    const { folder, outside, inside, key, run, runJson } = await openOutside()
    const created = await runJson('bundle', 'create', 'all.bundle', '--data', outside)
    const { length: size } = await readFile(join(folder, 'all.bundle'))
    expect(created).toMatchObject({ file: 'all.bundle', since: 0, size, counts: { versions: 10, complete: 10 } })
    const until = created.until as number
    expect(await runJson('bundle', 'inspect', 'all.bundle')).toMatchObject({ file: 'all.bundle', size, until })
    expect(await runJson('bundle', 'verify', 'all.bundle')).toMatchObject({ trusted: false })
    await writeFile(join(folder, 'node.key'), `${key}\n`)
    expect(await runJson('bundle', 'verify', 'all.bundle', '--key', 'node.key')).toMatchObject({
      trusted: true,
      signedBy: [key.split('+').slice(0, 2).join('+')],
    })
    const imported = await runJson('bundle', 'import', 'all.bundle', '--data', inside, '--name', 'outside')
    expect(imported).toMatchObject({
      upstream: 'outside',
      applied: until,
      refusedTotal: 0,
      isFirstUse: true,
      keys: [key],
    })
    expect((await run('show', 'skillstead/tidy-csv', '--data', inside)).code).toBe(0)
    const again = await runJson('bundle', 'import', 'all.bundle', '--data', inside, '--key', 'node.key')
    expect(again).toMatchObject({ upstream: 'outside', applied: 0, isFirstUse: false })
  })

  it('print which changes were imported, the public key and the next command to run', async () => {
    const { outside, inside, key, run } = await openOutside()
    const { stdout: written } = await run('bundle', 'create', 'all.bundle', '--data', outside, '--owner', 'skillstead')
    expect(written).toMatch(/^Wrote all\.bundle, [\d.]+ kB\.\n {2}log {6}skillstead-/)
    expect(written).toContain('  content  10 of 10 versions')
    expect(written).toContain('  only     owners skillstead\n')
    expect(written).toContain(`  key      ${key}\n`)
    const next = /skillstead bundle create FILE --since \d+\n$/.exec(written)?.[0]
    const { stdout: shown } = await run('bundle', 'import', 'all.bundle', '--data', inside)
    expect(shown).toContain('changes imported')
    expect(shown).toContain(
      'was taken from the bundle and is trusted from now on. Compare it with one from another source:',
    )
    expect(shown).toContain(`  ${key}\n`)
    expect(shown.endsWith(next!)).toBe(true)
  })

  it('report invalid input with one sentence', async () => {
    const { folder, outside, inside, run } = await openOutside()
    await run('bundle', 'create', 'all.bundle', '--data', outside)
    const late = await run('bundle', 'create', 'late.bundle', '--data', outside, '--since', '4')
    expect(late.code).toBe(0)
    const refusals: [args: string[], code: number, sentence: string][] = [
      [
        ['create', 'all.bundle', '--data', outside],
        1,
        'all.bundle already exists. Choose another name, or pass --force to replace it.',
      ],
      [['create', 'x.bundle', '--data', outside, '--since', 'now'], 2, "'now' is not a position"],
      [['create', 'x.bundle', '--data', outside, '--since', '999'], 1, 'so there are none after 999.'],
      [['import', 'none.bundle', '--data', inside], 1, 'none.bundle does not exist.'],
      [['import', 'late.bundle', '--data', inside], 1, 'Create one with: skillstead bundle create FILE --since 0'],
      [['verify', 'node.txt'], 1, 'This file is not a bundle'],
    ]
    await writeFile(join(folder, 'node.txt'), 'This is a letter.')
    for (const [args, code, sentence] of refusals) {
      const finished = await run('bundle', ...args)
      expect([args, finished.code, finished.stdout]).toEqual([args, code, ''])
      expect(finished.stderr).toContain(sentence)
      expect(finished.stderr.trimEnd().split('\n')).toHaveLength(1)
    }
    expect((await run('bundle', 'create', 'all.bundle', '--data', outside, '--force')).code).toBe(0)
  })

  it('continue the import of a bundle after the import process was killed', async () => {
    const { folder, outside, inside, runJson } = await openOutside()
    const { until } = await runJson('bundle', 'create', 'all.bundle', '--data', outside)
    const child = spawn(
      process.execPath,
      ['--conditions=source', main, 'bundle', 'import', 'all.bundle', '--data', inside],
      { cwd: folder },
    )
    const ended = once(child, 'exit')
    let printed = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (printed += text))
    const countApplied = () => {
      if (child.exitCode) throw new Error(`The import ended before it was killed: ${printed}`)
      return readApplied(inside)
    }
    await expect.poll(countApplied, { timeout: 60_000, interval: 5 }).toBeGreaterThan(0)
    child.kill('SIGKILL')
    await ended
    const applied = readApplied(inside)
    const report = await runJson('bundle', 'import', 'all.bundle', '--data', inside)
    expect(report).toMatchObject({ head: until, applied: (until as number) - applied, refusedTotal: 0 })
    await runJson('bundle', 'create', 'again.bundle', '--data', inside)
    expect(await runJson('bundle', 'verify', 'again.bundle')).toMatchObject({ counts: { versions: 10, complete: 10 } })
  })
})

/** How many entries are in the catalogue of a registry that another process writes. */
function readApplied(data: string): number {
  try {
    const database = new Database(join(data, 'skillstead.db'), { readonly: true, fileMustExist: true })
    const applied = database.prepare('select max(applied) from upstreams').pluck().get() as number | null
    database.close()
    return applied ?? 0
  } catch {
    return 0
  }
}
