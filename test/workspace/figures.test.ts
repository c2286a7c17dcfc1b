import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { toChart } from '../bench/chart.ts'
import { readMeasured, readSection, selectFigures, toSection, writeDocs, type Measured } from '../bench/docs.ts'
import { holds, type Figure } from '../bench/figures.ts'
import { findChange, findOthers } from '../bench/machine-speed.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string) => readFileSync(root + path, 'utf8')
const part = 'Over HTTP, SQLite <"&>'
const figures: Figure[] = [
  {
    part,
    name: 'GET /skills/<name>, cached',
    value: 31_234.5,
    unit: 'requests/s',
    compared: [
      { with: 'bare node:http', value: 52_000, ratio: 0.60066, least: 0.55 },
      { with: 'Verdaccio', value: 1500, ratio: 20.823, least: 25 },
    ],
  },
  { part: 'Search with 7,000 skills', name: 'a search, median', value: 3.456, unit: 'ms', most: 4 },
  { part: 'Search with 7,000 skills', name: 'a search, 99th percentile', value: 9, unit: 'ms', most: 12 },
  { part: 'skillstead import, SQLite', name: 'a whole catalogue', value: 318, unit: 'versions/s', note: 'a|b' },
  { part, name: 'requests of a thousand clients', value: 1, unit: '' },
  { part, name: 'errors of a thousand clients', value: 3, unit: '', most: 2 },
]
const page =
  'before\n<!-- begin of what `bench --write` writes -->\n<!-- end of what `bench --write` writes -->\nafter\n'
const http: Measured = {
  name: 'http',
  figures,
  date: '2026-11-30',
  commit: 'd753efe9',
  machine: '2 cores',
  command: 'bench --write',
  barePerSecond: [60_000, 58_000],
}

test('the table and the chart of benchmarks state the same value of a figure', () => {
  const section = toSection([http])
  const chart = toChart(figures)
  for (const ratio of ['0.601', '20.8']) {
    for (const text of [section, chart]) expect(text).toContain(ratio)
  }
  expect(section).toContain(
    '| details of a skill, cached | 31,235 requests/s, 0.601 × bare node:http, 20.8 × Verdaccio |',
  )
  expect(section).toContain(
    '| 7,000 skills and 20 publishes/s: search by name, median / p99 | 3.46 ms / 9 ms | ≤ 4 ms / ≤ 12 ms | reached |',
  )
  expect(section).toContain('| 318 versions/s; a\\|b | 2 × commit 98873b4a in the same hour | not compared |')
  expect(section).toContain('- http: on 2026-11-30 at commit d753efe9 by `bench --write`; 2 cores; 60,000 and 58,000')
})

test('a benchmark figure that misses a target is marked in the table and in the chart', () => {
  expect(figures.map(holds)).toEqual([false, true, true, undefined, undefined, false])
  expect(toSection([http])).toContain('| ≥ 0.55 × bare node:http, ≥ 25 × Verdaccio | **missed** |')
  expect(toChart(figures).match(/class="missed"/g)).toHaveLength(1)
})

test('the page lists each missed target, also of figures that its table does not show', () => {
  expect(toSection([http])).toContain(
    `Other targets that were missed:\n\n- ${part}, errors of a thousand clients: 3, wanted ≤ 2\n`,
  )
})

test('a figure that was not measured has a row all the same; figures without a target may be omitted', () => {
  expect(toSection([http])).toContain('| first sync of a mirror, 400 skills |  | ≤ 4 s | not measured |')
  expect(toSection([http])).not.toContain('requests of a thousand clients')
})

test('figures are refused while other programs are busy, or if the speed of the machine changed meanwhile', () => {
  expect(findOthers(0.1)).toBe(undefined)
  expect(findOthers(0.42)).toContain('Other programs use 42 % of the processor.')
  expect(findChange(60_000, 42_000)).toBe(undefined)
  expect(findChange(42_000, 60_000)).toBe(undefined)
  expect(findChange(60_000, 41_000)).toContain('answered 60000 requests/s before and 41000 after')
  expect(findChange(41_000, 60_000)).toContain('answered 41000 requests/s before and 60000 after')
})

test('a part of the benchmark replaces what was written of it, and writes only between the marker lines', () => {
  const folder = newFolder()
  writeFileSync(join(folder, 'figures.md'), page)
  const log: Measured = { ...http, name: 'log', figures: [{ part: 'Log', name: 'append', value: 1, unit: 'ms' }] }
  const again: Measured = { ...http, commit: 'a78c956c', figures: figures.slice(1) }
  writeDocs(http, folder)
  writeDocs(log, folder)
  writeDocs(again, folder)
  const stored = readMeasured(join(folder, 'figures.ndjson'))
  expect(stored).toEqual([again, log])
  const written = readFileSync(join(folder, 'figures.md'), 'utf8')
  expect(written).toMatch(/^before\n[^]*\nafter\n$/)
  expect(readSection(written)).toBe(toSection(stored))
  expect(readFileSync(join(folder, 'figures.svg'), 'utf8')).toBe(toChart(selectFigures(stored)))
})

// An interrupted benchmark must not leave its nodes running.
test.each([
  ['bare-child', 'answers.json'],
  ['node-child', '{ "registry": { "path": ":memory:" } }'],
  ['mirror-child', '{ "registry": { "path": ":memory:" } }'],
])('the process %s of the benchmark ends when its parent process has ended', async (name, argument) => {
  const cwd = newFolder()
  writeFileSync(join(cwd, 'answers.json'), '{ "sizes": {}, "headers": {} }')
  const child = fork(join(root, `test/bench/${name}.ts`), [argument], { cwd, execArgv: ['--conditions=source'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const crash = once(child, 'exit').then(([code]) => Promise.reject(new Error(`${name} ended early: ${code}`)))
  await Promise.race([once(child, 'message'), crash])
  crash.catch(() => undefined)
  child.disconnect()
  expect(await once(child, 'exit')).toEqual([0, null])
})

test('the chart is an SVG image without scripts, links or unescaped text', () => {
  const chart = toChart(figures)
  expect(chart).not.toMatch(/<script|href|on\w+=|<"&>/)
  expect(chart).toContain('Over HTTP, SQLite &lt;&quot;&amp;&gt;')
  expect(chart).toContain('@media (prefers-color-scheme: dark)')
})

test('the table and the chart in docs/ are generated from the figures in docs/', () => {
  const stored = readMeasured(`${root}docs/figures.ndjson`)
  expect(readSection(read('docs/figures.md'))).toBe(toSection(stored))
  expect(read('docs/figures.svg')).toBe(toChart(selectFigures(stored)))
})

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'skillstead-figures-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}
