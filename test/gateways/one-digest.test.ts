import { execFileSync } from 'node:child_process'
import { chmod, lstat, mkdir, readFile, readdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { createClient } from '@skillstead/client'
import { createMirror } from '@skillstead/mirror'
import { readArchive, toVersionDigest } from '@skillstead/skill-format/archives'
import fc from 'fast-check'
import { unpackTar } from 'modern-tar'
import { expect, it } from 'vitest'
import { makeFolder, skillsteadJson } from '../support/cli-harness.ts'
import { openGit } from '../support/git-program.ts'
import { repetitions } from '../support/long.ts'
import { startNode } from '../support/server-harness.ts'

interface TestFile {
  readonly path: string
  readonly bytes: Buffer
  readonly executable: boolean
}

/** A folder as an author may have it: what of it makes the version, and what is left out. */
interface AuthorFolder {
  readonly files: readonly TestFile[]
  /** Links to a file of the folder, by the place of the file in `files`. */
  readonly links: readonly { readonly path: string; readonly target: number }[]
  readonly leftOut: readonly string[]
}

const folderNames = [
  'scripts',
  'references',
  'with space',
  'übersicht',
  '資料',
  '.config',
  '-dash',
  '#1',
  '%41',
  "it's",
]
const fileNames = [
  'run',
  'run.sh',
  'notes.md',
  'data.bin',
  'LICENSE',
  '.editorconfig',
  'ｗｉｄｅ.txt',
  'a+b=c.txt',
  '~tilde',
]
const someContent = fc.oneof(
  fc.constant(Buffer.from('#!/bin/sh\necho hello\n')),
  fc.constant(Buffer.from('one\r\ntwo\r\n')),
  fc.constant(Buffer.alloc(0)),
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
)
const somePath = fc
  .tuple(fc.array(fc.constantFrom(...folderNames), { maxLength: 2 }), fc.constantFrom(...fileNames))
  .map(([folders, name]) => [...folders, name].join('/'))
const someFile = fc.record({ path: somePath, bytes: someContent, executable: fc.boolean() })
const extraPaths = ['node_modules/left/index.js', '.DS_Store', 'inner/SKILL.md', '__MACOSX/x']
const someFolder: fc.Arbitrary<AuthorFolder> = fc.record({
  files: fc.uniqueArray(someFile, { minLength: 1, maxLength: 8, selector: (one) => one.path }),
  links: fc.uniqueArray(fc.record({ path: fc.constantFrom('link', 'scripts/link.sh'), target: fc.nat({ max: 7 }) }), {
    selector: (one) => one.path,
  }),
  leftOut: fc.subarray(extraPaths),
})

async function put(folder: string, name: string, bytes: Uint8Array | string, mode = 0o644): Promise<void> {
  await mkdir(dirname(join(folder, name)), { recursive: true })
  await writeFile(join(folder, name), bytes)
  await chmod(join(folder, name), mode)
}

/** Writes the folder, and gives the files that a version of it has. */
async function writeFolder(folder: string, skillMd: string, { files, links, leftOut }: AuthorFolder) {
  await put(folder, 'SKILL.md', skillMd)
  for (const { path, bytes, executable } of files) await put(folder, path, bytes, executable ? 0o755 : 0o644)
  for (const name of leftOut) await put(folder, name, 'Left out.\n')
  if (leftOut.includes('inner/SKILL.md')) await put(folder, 'inner/notes.txt', 'Of the inner skill.\n')
  await symlink('/etc/hostname', join(folder, 'outside'))
  const followed: TestFile[] = []
  for (const { path, target } of links) {
    const { bytes, executable, path: to } = files[target % files.length]!
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await symlink(join(path.includes('/') ? '..' : '', to), join(folder, path))
    followed.push({ path, bytes, executable })
  }
  return [{ path: 'SKILL.md', bytes: Buffer.from(skillMd), executable: false }, ...files, ...followed]
}

/** The files of a folder on disk, but those of git and of the formats that repositories and installers need. */
async function readFolder(folder: string, skipped: readonly string[] = []): Promise<TestFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  const files = paths.map(async (place) => ({
    path: place.slice(folder.length + 1),
    bytes: await readFile(place),
    executable: ((await lstat(place)).mode & 0o111) !== 0,
  }))
  return (await Promise.all(files)).filter(({ path }) => !skipped.some((part) => `${path}/`.startsWith(`${part}/`)))
}

async function readTarball(bytes: ArrayBuffer, skipped: readonly string[] = []): Promise<TestFile[]> {
  const entries = await unpackTar(gunzipSync(Buffer.from(bytes)))
  return entries
    .filter(({ header }) => header.type === 'file')
    .map(({ header, data }) => ({
      path: header.name.slice(header.name.indexOf('/') + 1),
      bytes: Buffer.from(data!),
      executable: ((header.mode ?? 0) & 0o111) !== 0,
    }))
    .filter(({ path }) => !skipped.includes(path))
}

it(
  'a folder has the same digest, however it is published, imported, downloaded or mirrored',
  { timeout: 240_000 },
  async () => {
    const { api, node, createUser, registry } = await startNode({ rates: 'off' })
    const mirror = createMirror(registry)
    const owners = ['ann', 'bea', 'cid', 'dan'] as const
    const keys = Object.fromEntries(
      await Promise.all(owners.map(async (name) => [name, await createUser(name, 'team')])),
    )
    let runs = 0
    const property = fc.asyncProperty(someFolder, async (made) => {
      const name = `kit-${(runs += 1)}`
      const skillMd = `---\nname: ${name}\ndescription: Carries files of kind ${runs} to other folders\n---\n# ${name}\n`
      const scratch = await makeFolder()
      const folder = join(scratch, name)
      const files = await writeFolder(folder, skillMd, made)
      const wanted = toVersionDigest(files)

      // Ways in.
      const git = (...args: string[]) => {
        const settings = ['-c', 'user.name=ann', '-c', 'user.email=ann@example.com', '-c', 'core.autocrlf=false']
        execFileSync('git', ['-c', 'init.defaultBranch=main', ...settings, ...args], { cwd: folder, stdio: 'pipe' })
      }
      git('init', '--quiet')
      git('add', '--all', '--force')
      git('commit', '--quiet', '--message', 'all')
      git('archive', '--format=zip', `--output=${scratch}/${name}.zip`, 'HEAD')
      git('archive', '--format=tar.gz', `--output=${scratch}/${name}.tar.gz`, `--prefix=${name}/`, 'HEAD')
      const sources = { ann: folder, bea: `${folder}.zip`, cid: `${folder}.tar.gz` }
      const digests: Record<string, string | null> = {}
      for (const [owner, source] of Object.entries(sources)) {
        await skillsteadJson(['publish', source, '--url', node.url], { env: { SKILLSTEAD_KEY: keys[owner]! } })
        digests[source.slice(folder.length)] = (await api.getSkill({ name: `${owner}/${name}` })).digest
      }
      const dan = createClient({ baseUrl: node.url, apiKey: keys.dan! })
      const listed = files.slice(1).map(({ path, bytes, executable }) => {
        return { path, content: bytes.toString('base64'), encoding: 'base64' as const, executable }
      })
      digests.json = (await dan.publishSkill({ skillMd, files: listed })).version.digest
      await mirror.add(name, folder, { kind: 'git', filters: { owners: ['gitti'] } })
      await mirror.sync(name)
      digests['git mirror'] = (await api.getSkill({ name: `gitti/${name}` })).digest
      const data = ['--data', join(scratch, 'data')]
      await skillsteadJson(['users', 'create', 'eve', ...data])
      await skillsteadJson(['import', folder, '--owner', 'eve', ...data])
      digests.import = (await skillsteadJson<{ digest: string }>(['show', `eve/${name}`, ...data])).digest
      expect(digests).toEqual(Object.fromEntries(Object.keys(digests).map((way) => [way, wanted])))

      // Ways out.
      const skill = `ann/${name}`
      const cloned = await openGit()
      await cloned.run('clone', '--quiet', `${node.url}/git/${skill}.git`, 'clone')
      const installed = join(scratch, 'installed')
      await mkdir(installed)
      await skillsteadJson(['install', skill, '--url', node.url], { cwd: installed })
      const ask = async (address: string) => (await fetch(`${node.url}${address}`)).arrayBuffer()
      const manifest = (await (await fetch(`${node.url}/v2/${skill}/manifests/latest`)).json()) as {
        layers: [{ digest: string }]
      }
      const zip = await readArchive(new Uint8Array(await ask(`/api/v1/skills/${skill}/archive`)), 'zip')
      const arrived = {
        zip: [{ path: 'SKILL.md', bytes: zip.skillMd }, ...zip.files],
        clone: await readFolder(join(cloned.folder, 'clone'), ['.git', '.gitattributes']),
        install: await readFolder(join(installed, '.agents/skills', name)),
        npm: await readTarball(await ask(`/npm/@ann/${name}/-/${name}-1.0.0.tgz`), ['package.json']),
        oci: await readTarball(await ask(`/v2/${skill}/blobs/${manifest.layers[0].digest}`)),
      }
      for (const [way, found] of Object.entries(arrived)) expect(toVersionDigest(found), way).toBe(wanted)
    })
    try {
      await fc.assert(property, { numRuns: repetitions({ sampled: 4, whole: 40 }), endOnFailure: true })
    } finally {
      await mirror.close()
    }
  },
)

it('every way to publish, import or mirror reports decomposed file names, and a SKILL.md that lost its executable mode', async () => {
  const { api, node, createUser, registry } = await startNode({ rates: 'off' })
  const mirror = createMirror(registry)
  const text = '---\nname: forms\ndescription: Carries names in other forms\n---\n# Forms\n'
  const [decomposed, inFolder] = ['u\u0308bersicht.md', 'docs/re\u0301sume\u0301.md']
  const composed = [decomposed, inFolder].map((path) => path.normalize('NFC'))
  const scratch = await makeFolder()
  const folder = join(scratch, 'forms')
  await put(folder, 'skill.md', text, 0o755)
  for (const path of [decomposed, inFolder]) await put(folder, path, 'A file.\n')
  const git = (...args: string[]) => {
    const settings = ['-c', 'user.name=ann', '-c', 'user.email=ann@example.com', '-c', 'core.precomposeunicode=false']
    execFileSync('git', ['-c', 'init.defaultBranch=main', ...settings, ...args], { cwd: folder, stdio: 'pipe' })
  }
  git('init', '--quiet')
  git('add', '--all')
  git('commit', '--quiet', '--message', 'all')
  git('archive', '--format=zip', `--output=${scratch}/forms.zip`, 'HEAD')
  git('archive', '--format=tar.gz', `--output=${scratch}/forms.tar.gz`, '--prefix=forms/', 'HEAD')

  const form = { reason: expect.stringContaining('normalisation form C') as string }
  const files = [
    { path: inFolder, ...form },
    { path: decomposed, ...form },
  ]
  const document = [
    { path: 'skill.md', reason: 'The file was stored as SKILL.md.' },
    { path: 'skill.md', reason: expect.stringContaining('executable mode was not stored') as string },
  ]
  const wanted = [files[0], ...document, files[1]]
  interface Lists {
    readonly changed: readonly { path: string; reason: string }[]
  }
  const sources = { ann: folder, bea: `${folder}.zip`, cid: `${folder}.tar.gz` }
  for (const [owner, source] of Object.entries(sources)) {
    const env = { SKILLSTEAD_KEY: await createUser(owner, 'team') }
    const { changed } = await skillsteadJson<Lists>(['publish', source, '--url', node.url], { env })
    expect(changed, source).toEqual(wanted)
    const linted = await skillsteadJson<{ skills: Lists[] }>(['lint', source])
    expect(linted.skills[0]!.changed, source).toEqual(wanted)
  }
  const dan = createClient({ baseUrl: node.url, apiKey: await createUser('dan', 'team') })
  const listed = [decomposed, inFolder].map((path) => ({ path, content: 'A file.\n', encoding: 'utf8' as const }))
  expect((await dan.publishSkill({ skillMd: text, files: listed })).changed).toEqual(files)
  await mirror.add('forms', folder, { kind: 'git', filters: { owners: ['gitti'] } })
  expect(await mirror.sync('forms')).toMatchObject({ changed: wanted })
  await mirror.close()

  const records = join(scratch, 'forms.ndjson')
  const record = {
    id: 'eve/forms//SKILL.md',
    skillMd: text,
    files: listed.map(({ path, content }) => ({ path, text: content })),
  }
  await writeFile(records, `${JSON.stringify(record)}\n`)
  const data = ['--data', join(scratch, 'data')]
  await skillsteadJson(['users', 'create', 'eve', ...data])
  const taken = await skillsteadJson<Lists>(['import', folder, '--owner', 'eve', ...data])
  expect(taken.changed).toEqual(wanted.map((one) => ({ ...one, path: `forms/${one!.path}` })))
  const fromRecords = await skillsteadJson<Lists>(['import', records, ...data])
  expect(fromRecords.changed.map(({ path }) => path)).toEqual([inFolder, decomposed].map((path) => `eve/forms/${path}`))

  const digests = ['ann', 'bea', 'cid', 'dan', 'gitti'].map((owner) => api.getSkill({ name: `${owner}/forms` }))
  const skills = await Promise.all(digests)
  expect(new Set(skills.map(({ digest }) => digest)).size).toBe(1)
  expect(skills[0]!.files.map(({ path }) => path).toSorted()).toEqual(['SKILL.md', ...composed].toSorted())
})
