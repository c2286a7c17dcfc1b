import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { stages } from '../bench/stages.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const begins = Object.values(stages).flatMap(({ files }): readonly string[] => files)

/** Places as the profile of a node has them: files of the packages, libraries, and modules of Node. */
const places = [
  ...globSync('packages/*/src/**/*.ts', { cwd: root }).map((file) =>
    file.slice('packages/'.length).replace('/src/', '/'),
  ),
  ...globSync('node_modules/.pnpm/node_modules/{*,@*/*}', { cwd: root }).map(
    (folder) => `${folder.slice('node_modules/.pnpm/'.length)}/`,
  ),
  ...Object.keys((process as unknown as { binding(name: 'natives'): object }).binding('natives')).map(
    (name) => `node:${name}`,
  ),
]

test('every stage of a profile names files that exist, so that no work falls into a wrong row', () => {
  expect(begins.filter((begin) => !places.some((place) => place.startsWith(begin)))).toEqual([])
})

test('every function that a stage of a profile names is one of the profiler, or the garbage collector of V8', () => {
  const profiler = readFileSync(`${root}test/bench/profiler.ts`, 'utf8')
  const names = Object.values(stages).flatMap((stage) => ('functions' in stage ? stage.functions : []))
  expect(names.filter((name) => !profiler.includes(`function ${name}(`))).toEqual(['(garbage collector)'])
})

test('no two stages of a profile name the same files', () => {
  expect(begins.filter((begin, i) => begins.indexOf(begin) !== i)).toEqual([])
})

test('every file of the core and of the server belongs to a stage of a profile', () => {
  const files = places.filter((place) => /^(?:core|server|scanner|skill-format|protocol|gateways)\//.test(place))
  expect(files.length).toBeGreaterThan(300)
  expect(files.filter((file) => !begins.some((begin) => file.startsWith(begin)))).toEqual([])
})
