import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { toChart } from '../bench/chart.ts'
import { readMeasured, readSection, toSentences, toTable, writeDocs } from '../bench/docs.ts'
import { holds, show, type Figure } from '../bench/figures.ts'
import { findRefusal } from '../bench/machine-speed.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string) => readFileSync(root + path, 'utf8')
const part = 'Over HTTP, SQLite <"&>'
const figures: Figure[] = [
  {
    part,
    name: 'GET /a|b',
    value: 31_234.5,
    unit: 'requests/s',
    bare: { value: 52_000, ratio: 0.60066, least: 0.55 },
    verdaccio: { value: 1500, ratio: 20.823, least: 25 },
  },
  { part, name: 'a search', value: 3.456, unit: 'ms', most: 4, note: 'with other load' },
  { part: 'Memory', name: 'resident', value: 257, unit: 'MiB' },
]
const page =
  'before\n<!-- begin of what `bench --write` writes -->\n<!-- end of what `bench --write` writes -->\nafter\n'
const measured = {
  figures,
  skipped: ['cluster: There is no PostgreSQL.'],
  parts: ['http', 'cluster'],
  machine: '2 cores',
  minutes: 18,
  command: 'bench',
  isWhole: true,
}

test('the table, the chart and the README state the same value of a figure', () => {
  const table = toTable(measured)
  const chart = toChart(figures)
  const sentences = toSentences(measured).join('\n')
  for (const ratio of ['0.601', '20.8']) {
    for (const text of [table, chart, sentences]) expect(text).toContain(ratio)
  }
  expect(table).toContain('| GET /a\\|b | 31,235 requests/s | 52,000 | 0.601 | 1,500 | 20.8 |')
  expect(table).toContain('≤ 4 ms: holds')
  expect(sentences).toContain('a search: 3.46 ms (wanted ≤ 4 ms)')
})

test('a figure that misses a target is marked in the table and in the chart', () => {
  expect(figures.map(holds)).toEqual([false, true, undefined])
  expect(toTable(measured)).toContain('≥ 0.55 of bare, ≥ 25 × Verdaccio: **missed**')
  expect(toChart(figures).match(/class="missed"/g)).toHaveLength(2)
})

test('a figure that could not be measured is listed with the reason', () => {
  expect(toTable(measured)).toContain('Not measured:\n\n- cluster: There is no PostgreSQL.')
})

test('figures of a machine with less than half of the best speed are refused', () => {
  expect(findRefusal({ barePerSecond: 30_000, load: 0.1 }, 60_000)).toBe(undefined)
  expect(findRefusal({ barePerSecond: 30_000, load: 0.1 }, undefined)).toBe(undefined)
  const refusal = findRefusal({ barePerSecond: 29_999, load: 7.5 }, 60_000)
  expect(refusal).toContain('29999 requests/s here, 50 % of the best that figures were written with (60000)')
  expect(refusal).toContain('the load average is 7.5')
})

test('the best speed of the machine stays when a slower run is written, and the load average is that of the last run', () => {
  const folder = newFolder()
  writeFileSync(join(folder, 'figures.md'), page)
  writeDocs({ ...measured, bareBest: 60_000, load: [0.1, 2.1] }, folder)
  writeDocs({ ...measured, figures: [], bareBest: 40_000, load: [0.2, 2.2] }, folder)
  const { bareBest, load } = readMeasured(join(folder, 'figures.ndjson'))
  expect({ bareBest, load }).toEqual({ bareBest: 60_000, load: [0.2, 2.2] })
  expect(readFileSync(join(folder, 'figures.md'), 'utf8')).toContain('load average 0.2 before the last run, 2.2 after')
})

test('a later measurement is added to the earlier results, and replaces those of the same figure', () => {
  const folder = newFolder()
  writeFileSync(join(folder, 'figures.md'), page)
  writeDocs(measured, folder)
  const later = { figures: [{ part: 'Nodes', name: 'reads', value: 2, unit: '' }], skipped: [], isWhole: false }
  writeDocs({ ...measured, ...later, parts: ['cluster'], minutes: 3, command: 'bench cluster' }, folder)
  const failed = { figures: [], skipped: ['log: The disk is full.'], isWhole: false }
  writeDocs({ ...measured, ...failed, parts: ['log'], minutes: 1, command: 'bench log' }, folder)

  const stored = readMeasured(join(folder, 'figures.ndjson'))
  expect(stored.figures).toHaveLength(4)
  expect(stored).toMatchObject({ skipped: ['log: The disk is full.'], minutes: 22, isWhole: true })
  const written = readFileSync(join(folder, 'figures.md'), 'utf8')
  expect(written).toMatch(/^before\n[^]*\nafter\n$/)
  expect(written).toContain('Measured by `bench`; then `bench cluster`; then `bench log` in 22 minutes: 2 cores.')
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
  expect(readSection(read('docs/figures.md'))).toBe(toTable(stored))
  expect(read('docs/figures.svg')).toBe(toChart(stored.figures))
})

test('every ratio in the README is also in docs/figures.md', () => {
  const stored = readMeasured(`${root}docs/figures.ndjson`)
  const ratios = stored.figures.flatMap(({ bare, verdaccio }) =>
    [bare, verdaccio].flatMap((other) => (other ? [show(other.ratio)] : [])),
  )
  const quoted = read('README.md').matchAll(/([\d.,]*\d)\s+(?:of\s+(?:a\s+)?bare|times\s+Verdaccio)/g)
  expect(ratios).toEqual(expect.arrayContaining(Array.from(quoted, ([, ratio]) => ratio)))
})

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'skillstead-figures-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}
