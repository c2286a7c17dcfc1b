import { spawnSync } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { readArchive } from '@skillstead/skill-format/archives'
import { unpackTar } from 'modern-tar'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openGit } from '../support/git-program.ts'
import { openNode } from '../support/server-harness.ts'

const script = '#!/bin/sh\necho hi\n'
const skillMd = '---\nname: hello\ndescription: Says hello\n---\nRun it.\n'
const files = [
  { path: 'scripts/hi.sh', content: script },
  { path: 'scripts/lib.py', content: '#!/usr/bin/env python3\n', executable: false },
  { path: 'bin/tool', content: 'AAAA', encoding: 'base64' as const, executable: true },
  { path: 'notes.md', content: 'Notes.' },
]
const programs = ['bin/tool', 'scripts/hi.sh']

let node: Awaited<ReturnType<typeof openNode>>
beforeAll(async () => {
  node = await openNode()
  await node.api.publishSkill({ skillMd, version: '1.0.0', files })
})
afterAll(() => node.close())

const read = async (path: string) => new Uint8Array(await (await fetch(`${node.node.url}${path}`)).arrayBuffer())
const listOf = async (zip: Uint8Array) =>
  (await readArchive(zip, 'zip')).files.flatMap(({ path, executable }) => (executable ? [path] : [])).toSorted()

/** The modes of a tar, of files that are executable. */
async function readTarModes(bytes: Uint8Array): Promise<string[]> {
  const entries = (await unpackTar(gunzipSync(bytes))).filter(({ header }) => header.type === 'file')
  expect(new Set(entries.map(({ header }) => header.mode))).toEqual(new Set([0o644, 0o755]))
  return entries.flatMap(({ header }) => (header.mode === 0o755 ? [header.name] : [])).toSorted()
}

describe('executable files keep their mode', () => {
  it('in the zip of the API, of APM and of clawhub', async () => {
    expect(await listOf(await read('/api/v1/skills/hello/archive'))).toEqual(programs)
    expect(await listOf(await read('/apm/v1/packages/alice/hello/versions/1.0.0/download'))).toEqual(programs)
    expect(await listOf(await read('/clawhub/api/v1/download?slug=hello&version=1.0.0'))).toEqual(programs)
  })

  it('in the archive of a discovery index', async () => {
    const path = '/alice/hello/.well-known/agent-skills/index.json'
    const index = JSON.parse(Buffer.from(await read(path)).toString()) as { skills: { url: string }[] }
    const { pathname } = new URL(index.skills[0]!.url, `${node.node.url}${path}`)
    expect(await listOf(await read(pathname))).toEqual(programs)
  })

  it('in the tarball of npm', async () => {
    const packument = JSON.parse(Buffer.from(await read('/npm/@alice%2fhello')).toString()) as {
      versions: Record<string, { dist: { tarball: string } }>
    }
    const tarball = await read(new URL(packument.versions['1.0.0']!.dist.tarball).pathname)
    expect(await readTarModes(tarball)).toEqual(programs.map((path) => `package/${path}`))
  })

  it('in the layer of an OCI artifact', async () => {
    const manifest = JSON.parse(Buffer.from(await read('/v2/alice/hello/manifests/1.0.0')).toString()) as {
      layers: { digest: string }[]
    }
    const layer = await read(`/v2/alice/hello/blobs/${manifest.layers[0]!.digest}`)
    expect(await readTarModes(layer)).toEqual(programs.map((path) => `hello/${path}`))
  })

  it.skipIf(spawnSync('git', ['--version']).status !== 0)('in the repositories of a skill and an owner', async () => {
    const git = await openGit()
    for (const [address, prefix] of [
      ['alice/hello.git', ''],
      ['alice.git', 'skills/hello/'],
    ] as const) {
      const folder = join(git.folder, prefix === '' ? 'skill' : 'owner')
      await git.run('clone', '--quiet', `${node.node.url}/git/${address}`, folder)
      const listing = await git.run('-C', folder, 'ls-tree', '-r', 'HEAD')
      const modes = [...listing.matchAll(/^(\d+) blob \w+\t(.*)$/gm)].map(([, mode, path]) => `${mode} ${path}`)
      for (const path of programs) expect(modes).toContain(`100755 ${prefix}${path}`)
      expect(modes.filter((line) => line.startsWith('100755'))).toHaveLength(programs.length)
      expect((await stat(join(folder, prefix, 'scripts/hi.sh'))).mode & 0o111).not.toBe(0)
      expect((await stat(join(folder, prefix, 'scripts/lib.py'))).mode & 0o111).toBe(0)
      expect(await git.run('-C', folder, 'fsck', '--strict')).toBe('')
    }
  })
})
