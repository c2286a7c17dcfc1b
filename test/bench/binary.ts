import { execFile } from 'node:child_process'
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { buildBinary } from '../../packages/cli/packing/binary/build-binary.ts'
import { youngFlag } from '../../packages/cli/src/engine-flags.ts'
import { measureCompressed, measureStart, zstdLevel } from './measure-binary.ts'
import { makeCatalogue } from './catalogue.ts'
import type { Figure } from './figures.ts'
import { makeScratch } from './scratch.ts'
import { median } from './statistics.ts'

const run = promisify(execFile)
const clone = join(import.meta.dirname, '../../packages/cli/clone')
const part = 'The single file'
const starts = 9
const compressedMbMax = 50
const emptyMsMax = 150
const fullMsMax = 1500

/**
 * The size of the single file, and how soon it and the command of this clone answer: from the start of the process to its
 * first answer over HTTP.
 */
export async function benchBinary({ isShort }: { isShort: boolean }): Promise<Figure[]> {
  const scratch = makeScratch('binary')
  try {
    const file = await buildBinary(join(scratch, 'skillstead'))
    await run(process.execPath, ['--conditions=source', join(clone, 'build.ts')])
    const full = join(scratch, 'full')
    const count = isShort ? 2_000 : 50_000
    await makeCatalogue(full, { count })
    const packed = await measureCompressed(file)
    const made = `medians of ${starts} starts`
    return [
      { part, name: 'size', value: (await stat(file)).size / 1e6, unit: 'MB' },
      { part, name: 'compressed', value: packed / 1e6, unit: 'MB', most: compressedMbMax, note: `zstd -${zstdLevel}` },
      {
        part,
        name: 'first answer, a new folder',
        value: await startOften([file], (i) => join(scratch, `new-${i}`)),
        unit: 'ms',
        note: made,
      },
      {
        part,
        name: 'first answer, an empty catalogue',
        value: await startOften([file], () => join(scratch, 'new-0')),
        unit: 'ms',
        most: emptyMsMax,
        note: made,
      },
      {
        part,
        name: 'first answer, a whole catalogue',
        value: await startOften([file], () => full),
        unit: 'ms',
        most: fullMsMax,
        note: `${count.toLocaleString('en')} skills, ${made}`,
      },
      {
        part: 'A clone, built',
        name: 'first answer, an empty catalogue',
        value: await startOften([process.execPath, '--conditions=source', youngFlag, join(clone, 'main.js')], () =>
          join(scratch, 'new-0'),
        ),
        unit: 'ms',
        note: made,
      },
    ]
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

async function startOften(
  command: readonly [string, ...string[]],
  toFolder: (turn: number) => string,
): Promise<number> {
  const tookMs: number[] = []
  for (let turn = 0; turn < starts; turn++) tookMs.push(await measureStart(command, toFolder(turn)))
  return median(tookMs)
}
