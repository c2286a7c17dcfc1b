import { execFile } from 'node:child_process'
import { createReadStream } from 'node:fs'
import { rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createGunzip, gzipSync } from 'node:zlib'
import { createClient } from '@skillstead/client'
import { localApi, systemCaller } from '@skillstead/core'
import { skillMd } from '../support/answers.ts'
import { startNode, startProcess } from './children.ts'
import type { Figure } from './figures.ts'
import type { MirrorFigures, MirrorQuestion } from './mirror-child.ts'
import { makeScratch } from './scratch.ts'
import { median } from './statistics.ts'
import { openRegistry } from '../support/open-registry.ts'

const run = promisify(execFile)
const cli = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url))
const repeats = 7
const copies = 10
const fewSkills = 400
const fewSecondsMax = 4

/**
 * Syncs a node with the corpus into an empty one, and prints each figure with its bound; times also as a share of what
 * the import of the same skills takes in the same run. `skills` takes only the first of them: bounds of time are then
 * scaled. With `tenfold` it does it again with ten times as many.
 */
export async function benchMirror(
  corpusDir: string,
  options: { skills?: number; tenfold?: boolean } = {},
): Promise<Figure[]> {
  const { skills, tenfold } = options
  const folder = makeScratch('mirror')
  try {
    const lines = await readLines(join(corpusDir, 'open.ndjson.gz'), skills)
    const one = await measure({ folder, name: 'once' }, lines)
    const rows = toRows(one, lines.length)
    if (tenfold) {
      const ten = await measure({ folder, name: 'tenfold' }, multiply(lines))
      rows.push(
        { name: `memory at ${copies} times the size`, unit: 'MiB', value: ten.full.rssMaxMib, most: 250 },
        { name: `memory at ${copies} times the size, ratio`, unit: '', value: ten.full.rssMaxMib / one.full.rssMaxMib },
        {
          name: `time for each skill at ${copies} times the size, ratio`,
          unit: '',
          value: ten.full.ms / one.full.ms / copies,
        },
      )
    }
    const part = `A mirror of a node with ${lines.length.toLocaleString('en')} skills`
    const figures: Figure[] = rows.map((row) => ({ part, ...row }))
    if (lines.length > fewSkills) {
      const few = await measure({ folder, name: 'few' }, lines.slice(0, fewSkills))
      const fewPart = `A mirror of a node with ${fewSkills} skills`
      const value = few.full.ms / 1000
      figures.push({ part: fewPart, name: 'full sync', unit: 's', value, most: fewSecondsMax })
    }
    return figures
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

type Measured = Awaited<ReturnType<typeof measure>>

function toRows(one: Measured, count: number): Omit<Figure, 'part'>[] {
  const wholeCorpus = 4777
  const perSecond = (figures: MirrorFigures) => (count / figures.ms) * 1000
  return [
    {
      name: 'full sync',
      unit: 's',
      value: one.full.ms / 1000,
      most: (6 * count) / wholeCorpus,
      compared: [{ with: 'an import of the same', value: one.importMs / 1000, ratio: one.full.ms / one.importMs }],
    },
    { name: 'full sync, skills refused', unit: '', value: one.full.refused },
    { name: 'full sync, event loop blocked', unit: 'ms', value: one.full.delayMaxMs, most: 100 },
    {
      name: 'full sync, requests for a thousand entries',
      unit: '',
      value: (one.full.requests / one.full.applied) * 1000,
    },
    { name: 'full sync, memory at most', unit: 'MiB', value: one.full.rssMaxMib, most: 250 },
    { name: 'full sync, memory before it', unit: 'MiB', value: one.full.rssBeforeMib },
    { name: 'nothing new', unit: 'ms', value: one.nothing.ms, most: 50 },
    { name: 'nothing new, requests', unit: '', value: one.nothing.requests, most: 3 },
    { name: 'one new version', unit: 'ms', value: one.single.ms, most: 100 },
    { name: 'one new version, requests', unit: '', value: one.single.requests },
    { name: 'bundle create', unit: 'skills/s', value: perSecond(one.created), least: 1000 },
    { name: 'bundle import', unit: 'skills/s', value: perSecond(one.imported), least: 1000 },
    { name: 'bundle import, event loop blocked', unit: 'ms', value: one.imported.delayMaxMs, most: 100 },
    { name: 'bundle size, share of the corpus as .gz', unit: '', value: one.bundleBytes / one.gzipBytes, most: 1 },
  ]
}

interface Place {
  readonly folder: string
  readonly name: string
}

function startMirror(registry: { readonly path: string }, url?: string) {
  return startProcess('./mirror-child.ts', JSON.stringify({ registry, url }))
}

async function measure({ folder, name }: Place, lines: readonly string[]) {
  const corpus = join(folder, `${name}.ndjson.gz`)
  const data = join(folder, name)
  const packed = gzipSync(`${lines.join('\n')}\n`, { level: 9 })
  await writeFile(corpus, packed)
  const importMs = await importCorpus(corpus, data)
  const path = join(data, 'skillstead.db')
  const key = await makePublisher(path)

  const node = await startNode({ path })
  const api = createClient({ baseUrl: node.url, apiKey: key })
  const mirror = await startMirror({ path: join(folder, `${name}-mirror.db`) }, node.url)
  const full = await mirror.ask<MirrorFigures>({ kind: 'sync' } satisfies MirrorQuestion)
  const nothing: MirrorFigures[] = []
  const single: MirrorFigures[] = []
  for (let i = 0; i < repeats; i += 1) {
    nothing.push(await mirror.ask<MirrorFigures>({ kind: 'sync' }))
    await api.publishSkill({ skillMd: skillMd('probe', { body: `The ${i}th.` }), version: `1.0.${i}` })
    single.push(await mirror.ask<MirrorFigures>({ kind: 'sync' }))
  }
  await mirror.stop()
  await node.stop()

  const file = join(folder, `${name}.bundle`)
  const origin = await startMirror({ path })
  const created = await origin.ask<MirrorFigures>({ kind: 'create', file })
  await origin.stop()
  const receiver = await startMirror({ path: join(folder, `${name}-stick.db`) })
  const imported = await receiver.ask<MirrorFigures>({ kind: 'import', file })
  await receiver.stop()
  const { size: bundleBytes } = await stat(file)
  return {
    importMs,
    full,
    created,
    imported,
    bundleBytes,
    gzipBytes: packed.length,
    nothing: middle(nothing),
    single: middle(single),
  }
}

/** The median of the times, and the most of what is counted. */
function middle(all: readonly MirrorFigures[]): Pick<MirrorFigures, 'ms' | 'requests'> {
  return { ms: median(all.map(({ ms }) => ms)), requests: Math.max(...all.map(({ requests }) => requests)) }
}

async function importCorpus(corpus: string, data: string): Promise<number> {
  const args = ['--conditions=source', cli, 'import', corpus, '--data', data, '--json']
  const { stdout } = await run(process.execPath, args, { maxBuffer: 256 * 1024 * 1024 })
  return (JSON.parse(stdout) as { seconds: number }).seconds * 1000
}

async function makePublisher(path: string): Promise<string> {
  const registry = await openRegistry({ path, works: false, memorySkillsMax: 0 })
  const { key } = await localApi(registry, systemCaller).createUser({ username: 'bench-publisher' })
  await registry.close()
  return key
}

async function readLines(file: string, count = Infinity): Promise<string[]> {
  const lines: string[] = []
  for await (const line of createInterface({ input: createReadStream(file).pipe(createGunzip()) })) {
    if (lines.length >= count) break
    lines.push(line)
  }
  return lines
}

/** Each skill so many times: of other owners, and with a word in it that makes it other content. */
function multiply(lines: readonly string[]): string[] {
  return Array.from({ length: copies }, (_, i) => i).flatMap((i) =>
    lines.map((line) => {
      const skill = JSON.parse(line) as Record<string, unknown>
      const [owner = '', rest = ''] = String(skill['repo']).split('/')
      const repo = `${owner.slice(0, 30)}-c${i}/${rest}`
      const document = `${String(skill['skillMd'])}\n\nCopy ${i}.\n`
      return JSON.stringify({ ...skill, repo, id: `${repo}//${String(skill['path'])}`, skillMd: document })
    }),
  )
}
