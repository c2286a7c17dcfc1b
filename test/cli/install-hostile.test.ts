import { execFile, spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient } from '@skillstead/client'
import { toContentDigest, type ContentFile } from '@skillstead/client/verify'
import { expect, it, onTestFinished } from 'vitest'
import { openCache } from '../../packages/cli/src/install/cache.ts'
import { fetchPackage } from '../../packages/cli/src/install/fetch-package.ts'
import { requestOffer } from '../../packages/cli/src/install/offer.ts'
import { writeZip } from '@skillstead/skill-format/archives'
import { toChildEnvironment } from '../support/child-environment.ts'
import { makeFolder, type Finished } from '../support/cli-harness.ts'
import { makeProject, type Project } from '../support/install-harness.ts'
import { skillMd, startNode } from '../support/server-harness.ts'

const page = '<!doctype html><title>Please log in to this network</title>'

/** Something on a port that answers as it likes: with bytes as an archive, and with all else as JSON or HTML. */
async function startLiar(answer: (path: string) => unknown): Promise<string> {
  const server = createServer(({ url = '' }, response) => {
    const body = answer(url)
    if (body instanceof Uint8Array) response.writeHead(200, { 'content-type': 'application/zip' }).end(body)
    else if (typeof body === 'string') response.writeHead(200, { 'content-type': 'text/html' }).end(body)
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const silent = (): void => {}
const document = { path: 'SKILL.md', bytes: Buffer.from(skillMd) }

it('an install refuses responses about another skill, and contradictory responses', async () => {
  const { api } = await startNode()
  const honest = await api.getSkill({ name: 'alice/pdf' })
  const offer = async (change: object) => {
    const url = await startLiar(() => ({ ...honest, ...change }))
    return requestOffer(createClient({ baseUrl: url }), { name: 'alice/pdf' }, silent)
  }
  expect(await offer({})).toMatchObject({ fullName: 'alice/pdf', version: '1.0.0', digest: honest.digest })
  for (const fullName of ['alice/csv', '../../pdf', 'alice/../pdf', '/etc/pdf', 7, null]) {
    await expect(offer({ fullName }), String(fullName)).rejects.toThrow(
      'but alice/pdf was requested. Nothing was changed.',
    )
  }
  const digest = `sha256:${'0'.repeat(64)}`
  await expect(offer({ digest })).rejects.toThrow('returned two different digests for alice/pdf@1.0.0')
  await expect(offer({ latestVersion: '../1' })).rejects.toThrow('has no version to install')
  await expect(offer({ digest: 'none' })).rejects.toThrow('has no version to install')
  await expect(offer({ versions: undefined })).rejects.toThrow('The response does not come from a supported registry')
  await expect(offer({ versions: [null] })).rejects.toThrow('The response does not come from a supported registry')
  await expect(offer({ stub: true })).rejects.toThrow('has not been published')
  expect((await offer({ deprecated: true, deprecationMessage: 'Take\u001b[2J csv.' })).warnings).toEqual([
    'alice/pdf is deprecated. Take [2J csv.',
  ])
})

it('an install refuses packages with another digest, or with paths outside the folder', async () => {
  const folder = await makeFolder()
  const cache = openCache(join(folder, 'cache'))
  const fetchOf = async (body: Uint8Array | string, files: readonly ContentFile[]) => {
    const api = createClient({ baseUrl: await startLiar(() => body) })
    return fetchPackage(api, { fullName: 'alice/pdf', version: '1.0.0', digest: toContentDigest(files) }, cache, silent)
  }
  const other = { path: 'other.md', bytes: Buffer.from('x') }
  await expect(fetchOf(writeZip([document, other]), [document])).rejects.toThrow(/has the wrong content: .*, expected/)
  await expect(fetchOf(page, [document])).rejects.toThrow(/alice\/pdf@1\.0\.0|upstream|returned/)
  await expect(fetchOf(writeZip([document]).slice(0, -9), [document])).rejects.toThrow(
    'was refused. The archive is truncated',
  )
  await expect(fetchOf(writeZip([other]), [other])).rejects.toThrow('was refused. The package contains no SKILL.md.')
  for (const path of [
    '../evil.md',
    '/etc/evil.md',
    'a/../../evil.md',
    '..\\evil.md',
    'C:evil.md',
    'a/con',
    'skill.MD',
    '.git/config',
    'a/.GIT/hooks/x',
    'git~1/config',
    'a/.g\u200Cit/config',
    `${'deep/'.repeat(9)}x`,
  ]) {
    const files = [document, { path, bytes: Buffer.from('x') }]
    await expect(fetchOf(writeZip(files), files), path).rejects.toThrow(/was refused\. .* Nothing was changed\.$/)
  }
  const bare = ['HEAD', 'objects/x', 'refs/x', 'config'].map((path) => ({ path, bytes: Buffer.from('x') }))
  await expect(fetchOf(writeZip([document, ...bare]), [document, ...bare])).rejects.toThrow(
    'treats the folder as a repo',
  )
  const double = [document, { path: 'a.md', bytes: Buffer.from('x') }, { path: 'A.md', bytes: Buffer.from('y') }]
  await expect(fetchOf(writeZip(double), double)).rejects.toThrow('when case is ignored')
  const link = Buffer.from(writeZip([document, other]))
  // The mode of the second entry, in the last of the headers: a link.
  link.writeUInt32LE(0o120777 * 0x10000, link.lastIndexOf(Buffer.from([0x50, 0x4b, 0x01, 0x02])) + 38)
  await expect(fetchOf(new Uint8Array(link), [document, other])).rejects.toThrow('other.md: Links are not allowed.')
  expect(await readdir(folder)).toEqual([])
})

it('an install changes nothing if the node is unavailable or sends false data, or a captive portal responds', async () => {
  const { api, node } = await startNode()
  const project = await makeProject()
  await project.run('install', 'pdf', '--url', node.url)
  const before = await project.files()
  await api.publishSkill({ skillMd: `${skillMd}More.\n`, version: '1.1.0' })
  const next = await api.getSkill({ name: 'alice/pdf' })
  const former = await api.getSkill({ name: 'alice/pdf', version: '1.0.0' })
  const forged = { ...former, digest: next.digest, versions: [] }
  const [portal, liar, forger] = await Promise.all([
    startLiar(() => page),
    startLiar((path) => (path.includes('/archive') ? writeZip([document]) : next)),
    startLiar((path) => (path.includes('/archive') ? writeZip([document]) : forged)),
  ])
  for (const [args, sentence] of [
    [['install', 'alice/pdf@1.1.0', '--url', 'http://127.0.0.1:9'], 'No registry responds at http://127.0.0.1:9'],
    [['install', 'alice/pdf@1.1.0', '--url', portal], portal],
    [['update', '--url', portal], portal],
    [['install', 'alice/pdf@1.1.0', '--url', liar], 'has the wrong content'],
    [['install', 'alice/pdf@1.0.0', '--url', forger], 'A version never changes, so one of them is wrong'],
    [['install', 'alice/pdf@1.1.0', '--offline'], 'is not in skills.lock. Run the command without --offline.'],
  ] as const) {
    const { code, stdout, stderr } = await project.run(...args)
    expect([args, code, stdout]).toEqual([args, 1, ''])
    expect(stderr).toContain(sentence)
    expect(stderr).not.toMatch(/<|Unexpected token|\n.*\n/)
  }
  expect(await project.files()).toEqual(before)
})

it('the output has no terminal control characters from responses', async () => {
  const { api } = await startNode()
  const honest = await api.getSkill({ name: 'alice/pdf' })
  const evil = '\u001B[2J\u009B1mpdf\u202E\nForged'
  const skill = { ...honest, fullName: evil, latestVersion: evil, displayName: evil, publishedAt: evil }
  const url = await startLiar((path) => {
    if (path.includes('/heartbeat')) return { updates: [null], unknown: [], recommendations: [] }
    if (path.includes('/packs/')) return { skills: [null] }
    return /skills\/[^?]/.test(path) ? skill : { skills: [skill], total: 1, page: 1, totalPages: 1 }
  })
  const refuser = createServer((_, response) => {
    const problem = { code: 'not_found', detail: evil, status: 404, title: evil, type: 'x' }
    response.writeHead(404, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem))
  })
  await new Promise<void>((resolve) => void refuser.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void refuser.close())
  const project = await makeProject()
  const refused = `http://127.0.0.1:${(refuser.address() as AddressInfo).port}`
  for (const [args, code] of [
    [['search', 'pdf', '--url', url], 0],
    [['show', 'pdf', '--url', url], 0],
    [['show', 'pdf', '--json', '--url', url], 0],
    [['show', 'pdf', '--url', refused], 1],
    [['show', 'pdf', '--json', '--url', refused], 1],
    [['install', 'pdf', '--url', url], 1],
    [['install', 'pack:files', '--url', url], 1],
  ] as const) {
    const done = await project.run(...args)
    expect([args, done.code]).toEqual([args, code])
    expect(done.stdout + done.stderr, args.join(' ')).not.toMatch(/[^\P{Cc}\n]|[\u202A-\u202E]|\nForged|Cannot read/u)
  }
  expect(await project.files()).toEqual({})
})

const main = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url))

/** Has a command stop for ever before it writes one of the notes, so that it is half way whenever it is killed. */
const stopHalfWay = `
  import fs from 'node:fs'
  import { syncBuiltinESMExports } from 'node:module'
  const { writeFileSync } = fs
  fs.writeFileSync = (file, ...rest) => {
    if (String(file).endsWith('/notes/200.md')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
    return writeFileSync(file, ...rest)
  }
  syncBuiltinESMExports()`

it('a killed install leaves the former state, and the next command cleans up', async () => {
  const { api, node } = await startNode()
  const files = Array.from({ length: 400 }, (_, i) => ({ path: `notes/${i}.md`, content: `Note ${i}.\n`.repeat(50) }))
  await api.publishSkill({ skillMd: `${skillMd}More.\n`, files, version: '1.1.0' })
  const project = await makeProject()
  await project.run('install', 'pdf@1.0.0', '--url', node.url)
  const before = await project.files()
  const skills = join(project.folder, '.agents/skills')
  const options = ['--conditions=source', `--import=data:text/javascript,${encodeURIComponent(stopHalfWay)}`]
  const child = spawn(process.execPath, [...options, main, 'update', '--url', node.url], {
    cwd: project.folder,
    env: toChildEnvironment(project.env),
  })
  const ended = new Promise<string | null>((resolve) => child.once('exit', (_, signal) => resolve(signal)))
  // The update now writes to a staging folder next to the skill.
  await expect.poll(() => readdir(skills)).toHaveLength(2)
  child.kill('SIGKILL')
  expect(await ended).toBe('SIGKILL')
  expect(await project.files()).toMatchObject(before)
  expect(await readdir(skills)).toHaveLength(2)

  expect((await project.run('verify')).code).toBe(0)
  expect(await project.files()).toEqual(before)
  expect((await project.run('update', '--url', node.url)).stdout).toContain('from 1.0.0 to 1.1.0')
  expect(Object.keys(await project.files())).toHaveLength(402)
  expect(await readdir(skills)).toEqual(['pdf'])
})

/**
 * Runs a command that may write only what its user may write. Root may write everything, and gives that up: as another
 * user it could not read a checkout of its own.
 */
function runUnprivileged(project: Project, args: readonly string[]): Promise<Finished> {
  if (process.getuid?.() !== 0) return project.run(...args)
  const given = [
    '--bounding-set=-dac_override,-dac_read_search',
    process.execPath,
    '--conditions=source',
    main,
    ...args,
  ]
  return runIn(project, 'setpriv', given)
}

/** Runs a command that can write no more than 16 KiB into a file, as on a disk that is full. */
function runOnFullDisk(project: Project, args: readonly string[]): Promise<Finished> {
  const script = `trap '' XFSZ; ulimit -f 16; exec "$@"`
  return runIn(project, 'bash', ['-c', script, 'bash', process.execPath, '--conditions=source', main, ...args])
}

function runIn(project: Project, program: string, args: readonly string[]): Promise<Finished> {
  return new Promise((resolve) => {
    const options = { cwd: project.folder, env: toChildEnvironment(project.env) }
    execFile(program, args, options, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    )
  })
}

it('an install gives advice if the folder is read-only or the disk is full', async () => {
  const { api, node } = await startNode()
  await api.publishSkill({ skillMd: `${skillMd}${'More. '.repeat(9000)}\n`, version: '1.1.0' })
  const project = await makeProject(await makeFolder())
  await mkdir(join(project.folder, '.agents/skills'), { recursive: true })
  await chmod(join(project.folder, '.agents/skills'), 0o555)
  const install = ['install', 'pdf', '--url', node.url]
  const refused = await runUnprivileged(project, install)
  expect([refused.code, refused.stdout]).toEqual([1, ''])
  expect(refused.stderr).toMatch(
    /cannot be written: permission denied\. Make the folder writable, .* Nothing was changed\.\n$/,
  )
  expect(await project.files()).toEqual({})
  await chmod(join(project.folder, '.agents/skills'), 0o755)

  await rm(join(project.folder, '.agents'), { recursive: true })
  await writeFile(join(project.folder, '.agents'), 'A file.')
  const blocked = await project.run(...install)
  expect([blocked.code, blocked.stderr]).toEqual([1, expect.stringContaining('Nothing was changed.')])
  expect(await project.files()).toEqual({ '.agents': 'A file.' })

  await rm(join(project.folder, '.agents'))
  const full = await runOnFullDisk(project, install)
  expect([full.code, full.stdout]).toEqual([1, ''])
  expect(full.stderr).toMatch(/the disk is full\. Free some space and try again\. Nothing was changed\.\n$/)
  expect(await project.files()).toEqual({})
  expect(await readdir(project.folder)).toEqual([])
})
