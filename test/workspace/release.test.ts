import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { nodePackages, takeNodeOf, unsupportedTargets } from '../../packages/cli/packing/binary/targets.ts'
import { takeNotes, toReleaseNotes } from '../../packages/cli/packing/release/notes.ts'
import { folders, readManifest } from '../support/packages.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

const changelog = `# Changelog

## Unreleased: 0.3.0

- Third.

### Fixed

- A fault.

## 0.2.1

## 0.2.0

- Second.
`

describe('the notes of a release', () => {
  it.each([
    ['0.3.0', '- Third.\n\n### Fixed\n\n- A fault.'],
    ['0.2.0', '- Second.'],
  ])('are the section of the version %s', (version, notes) => {
    expect(takeNotes(changelog, version)).toBe(notes)
  })

  it.each(['0.2.1', '0.2', '1.0.0', 'Third', ''])('cause an error for %j without a changelog heading', (version) => {
    expect(() => takeNotes(changelog, version)).toThrow(`Add the heading '## ${version}' with its changes.`)
  })

  it('exist for the common version of all packages, and name platforms without an executable file', async () => {
    const manifests = await Promise.all(folders.map((folder) => readManifest(join(root, 'packages', folder))))
    const [version, ...others] = new Set(manifests.map((manifest) => manifest.version))
    expect(others).toEqual([])
    const changes = takeNotes(read('CHANGELOG.md'), version!)
    const notes = toReleaseNotes({ version: version!, changes, executables: ['a', 'b'], unsupported: { c: 'Too old' } })
    expect(notes).toContain('which needs no Node: `a`, `b`.\n- None for c: Too old. Use the npm package there.\n- ')
  })
})

it('each platform of the database library has an executable file or a reason why not', () => {
  const library = JSON.parse(read('packages/core/node_modules/better-sqlite3/package.json')) as { exports: object }
  const all = Object.keys(library.exports).filter((name) => /-(?:x64|arm64)$/.test(name))
  const known = [...Object.keys(nodePackages), ...Object.keys(unsupportedTargets)]
  expect(known.map((name) => `./${name}`).toSorted()).toEqual(all.toSorted())
})

it('an executable file for a platform without Node.js is refused', async () => {
  await expect(takeNodeOf('linux-vax', '/none')).rejects.toThrow(
    'There is no Node.js for linux-vax, only for linux-x64',
  )
})

it('all packages have one scope', async () => {
  const manifests = await Promise.all(folders.map((folder) => readManifest(join(root, 'packages', folder))))
  expect(manifests.map(({ name }) => name)).toEqual(folders.map((folder) => `@skillstead/${folder}`))
})

it('the workflow of a release runs existing scripts on tags, and may prove the origin of packages', () => {
  const { on, jobs } = parse(read('.github/workflows/release.yml')) as {
    on: object
    jobs: { release: { permissions: object; steps: { run?: string }[] } }
  }
  expect(on).toEqual({ push: { tags: ['v*'] } })
  expect(jobs.release.permissions).toMatchObject({ 'id-token': 'write' })
  const commands = jobs.release.steps.map(({ run = '' }) => run)
  expect(commands).toContain('npx --yes pnpm@12 release')
  const { scripts } = JSON.parse(read('package.json')) as { scripts: object }
  expect(scripts).toHaveProperty('release')
  expect(commands.join('\n')).toContain('npm publish --provenance --access public')
})
