import { chmod, mkdir, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { packTar } from 'modern-tar'
import { writeZip } from '@skillstead/skill-format/archives'
import { expect, it } from 'vitest'
import { makeFolder, skillstead, skillsteadJson } from '../support/cli-harness.ts'
import { makeProject } from '../support/install-harness.ts'
import { startNode } from '../support/server-harness.ts'

const skillMd = '---\nname: hello\ndescription: Says hello\n---\nRun scripts/hi.sh.\n'
const script = '#!/bin/sh\necho hi\n'
/** Files with a mode that `#!` does not tell, and two that it does. */
const files = [
  { path: 'bin/tool', text: 'tool', executable: true },
  { path: 'lib.py', text: '#!/usr/bin/env python3\n', executable: false },
  { path: 'notes.md', text: 'Notes.', executable: false },
  { path: 'scripts/hi.sh', text: script, executable: true },
]
const programs = ['bin/tool', 'scripts/hi.sh']

async function makeSkill(): Promise<string> {
  const folder = join(await makeFolder(), 'hello')
  await mkdir(join(folder, 'bin'), { recursive: true })
  await mkdir(join(folder, 'scripts'))
  await writeFile(join(folder, 'SKILL.md'), skillMd)
  for (const { path, text, executable } of files) {
    await writeFile(join(folder, path), text)
    await chmod(join(folder, path), executable ? 0o755 : 0o644)
  }
  return folder
}

async function makeData(): Promise<string> {
  const data = join(await makeFolder(), 'data')
  await skillstead(['users', 'create', 'alice', '--data', data])
  return data
}

interface Shown {
  versions: { digest: string }[]
  files: { path: string; executable?: boolean }[]
}

async function readPublished(data: string) {
  const { versions, files: listed } = await skillsteadJson<Shown>(['show', 'alice/hello', '--data', data])
  return { digest: versions[0]!.digest, programs: listed.filter((file) => file.executable).map(({ path }) => path) }
}

it('a skill has the same digest as a folder, zip and tar.gz, and after an import of a folder or zip', async () => {
  const folder = await makeSkill()
  const all = [{ path: 'SKILL.md', text: skillMd, executable: false }, ...files]
  const zip = `${folder}.zip`
  await writeFile(zip, writeZip(all.map((file) => ({ ...file, bytes: Buffer.from(file.text) }))))
  const tar = `${folder}.tar.gz`
  const entries = all.map(({ path, text, executable }) => {
    const header = { name: path, size: text.length, type: 'file' as const, mode: executable ? 0o755 : 0o644 }
    return { header, body: Buffer.from(text) }
  })
  await writeFile(tar, gzipSync(await packTar(entries)))
  const found = []
  for (const [command, path] of [
    ['publish', folder],
    ['publish', zip],
    ['publish', tar],
    ['import', folder],
    ['import', zip],
  ] as const) {
    const data = await makeData()
    const { code, stderr } = await skillstead([command, path, '--owner', 'alice', '--data', data])
    expect([code, stderr], `${command} ${path}`).toEqual([0, expect.anything()])
    found.push(await readPublished(data))
  }
  for (const one of found) expect(one).toEqual({ ...found[0], programs })
})

it('a link to an executable file of the skill is stored as an executable file', async () => {
  const folder = await makeSkill()
  await symlink('scripts/hi.sh', join(folder, 'run'))
  const data = await makeData()
  await skillstead(['publish', folder, '--owner', 'alice', '--data', data])
  expect((await readPublished(data)).programs).toEqual(['bin/tool', 'run', 'scripts/hi.sh'])
})

it('`install` writes programs with their mode and restores a changed mode, which `verify` reports', async () => {
  const { api, node } = await startNode()
  const sent = files.map(({ path, text, executable }) => ({ path, content: text, executable }))
  await api.publishSkill({ skillMd, files: sent, version: '1.0.0' })
  const project = await makeProject()
  expect((await project.run('install', 'alice/hello', '--url', node.url)).code).toBe(0)
  const place = join(project.folder, '.agents/skills/hello')
  const readModes = () =>
    Promise.all(files.map(async ({ path }) => ((await stat(join(place, path))).mode & 0o100) !== 0))
  const expected = files.map(({ executable }) => executable)
  expect(await readModes()).toEqual(expected)
  expect((await project.run('verify')).code).toBe(0)

  await chmod(join(place, 'scripts/hi.sh'), 0o644)
  await chmod(join(place, 'lib.py'), 0o755)
  const edited = await project.run('verify')
  expect(edited.code).toBe(1)
  expect(edited.stdout).toContain('lib.py is executable, scripts/hi.sh is not executable')
  // A mode is no work that could be lost, so that --force is not needed.
  expect((await project.run('install')).code).toBe(0)
  expect(await readModes()).toEqual(expected)
  expect((await project.run('verify')).code).toBe(0)
})

it('a skill in which all files are executable, as on a file system without modes, counts as unchanged', async () => {
  const { api, node } = await startNode()
  const sent = files.map(({ path, text, executable }) => ({ path, content: text, executable }))
  await api.publishSkill({ skillMd, files: sent, version: '1.0.0' })
  const project = await makeProject()
  await project.run('install', 'alice/hello', '--url', node.url)
  const place = join(project.folder, '.agents/skills/hello')
  for (const path of ['SKILL.md', ...files.map((file) => file.path)]) await chmod(join(place, path), 0o777)
  expect(await project.run('verify')).toMatchObject({ code: 0 })
  await api.publishSkill({ skillMd: `${skillMd}More.\n`, files: sent, version: '1.0.1' })
  expect(await project.run('update', '--url', node.url)).toMatchObject({ code: 0 })
  await writeFile(join(place, 'notes.md'), 'Mine.')
  expect((await project.run('verify')).stdout).toContain('notes.md was altered')
})
