import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, readFile, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { makeFolder } from '../support/cli-harness.ts'
import { copyWorkspace } from '../support/packages.ts'
import { makePlace } from '../support/places.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')

it('all starts of a clone of the repository share one bundle, which is not used after a source has changed', async () => {
  const clone = join(await makeFolder(), 'a clone')
  await copyWorkspace(clone)
  await cp(join(root, 'packages/cli/clone'), join(clone, 'packages/cli/clone'), { recursive: true })
  const file = (path: string) => join(clone, 'packages/cli', path)
  const node = (path: string, ...args: string[]) => run(process.execPath, ['--conditions=source', file(path), ...args])
  const version = async () => (await node('clone/main.js', '--version')).stdout.trim()
  const listBuilds = () => readdir(file('.built'))

  // Without a bundle the sources run.
  await writeFile(file('.built'), '')
  expect((await node('clone/build.ts')).stderr).toContain('starts from its sources')
  expect(await version()).toMatch(/^\d[\d.]*$/)
  await rm(file('.built'))

  await node('clone/build.ts')
  await node('clone/build.ts')
  const [build, ...others] = await listBuilds()
  expect(others).toEqual([])
  const main = file(`.built/${build}/main.js`)
  const bundled = await readFile(main, 'utf8')
  // One other character doubles the memory of a file of the bundle.
  const scripts = (await readdir(file(`.built/${build}`), { recursive: true })).filter((path) => path.endsWith('.js'))
  for (const path of scripts)
    expect(await readFile(file(`.built/${build}/${path}`), 'latin1'), path).not.toMatch(/[\x80-\xff]/)
  await writeFile(main, `${bundled}\nconsole.log('bundled')\n`)
  expect(await version()).toMatch(/^\d.*\nbundled$/)

  // A process that cannot mark the bundle as in use could lose it while it runs.
  await rm(file(`.built/${build}/users`), { recursive: true })
  expect(await version()).toMatch(/^\d[\d.]*$/)
  await mkdir(file(`.built/${build}/users`))

  // It finds the files of threads, pages and examples.
  const skill = join(clone, 'skill')
  await cp(join(root, 'examples/skills/release-checklist'), skill, { recursive: true })
  await writeFile(join(skill, 'SKILL.md'), `${skillMd('tea')}\n${'Steep the leaves.\n'.repeat(8000)}`)
  expect((await node('clone/main.js', 'scan', skill)).stdout).toContain('no known sign of harm')
  const examples = await node('clone/main.js', 'examples', '--data', join(clone, 'data'), '--json')
  expect(examples.stdout).toContain('skillstead/release-checklist')

  // A running node keeps its build, and loads the rest of it when it is asked for.
  const place = await makePlace('PostgreSQL')
  onTestFinished(place.remove)
  const running = spawn(process.execPath, [file('clone/main.js'), 'serve', '--port', '0', '--json'], {
    cwd: await makeFolder(),
    env: { ...process.env, DATABASE_URL: place.location.databaseUrl },
  })
  onTestFinished(() => void running.kill('SIGKILL'))
  const [line] = (await once(running.stdout, 'data')) as [Buffer]
  const { url } = JSON.parse(String(line)) as { url: string }
  await mkdir(file('.built/0123456789abcdef.999999999'))

  // A change counts whatever time its file claims.
  const source = file('src/version.ts')
  const before = await readFile(source, 'utf8')
  await writeFile(source, before.replace('.version', ".version + '-changed'"))
  await utimes(source, 0, 0)
  expect(await version()).toMatch(/^\d.*-changed$/)
  await node('clone/build.ts')
  expect(await version()).toMatch(/^\d.*-changed$/)
  expect(await listBuilds()).toEqual(expect.arrayContaining([build]))
  expect(await listBuilds()).toHaveLength(2)
  const question = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const asked = await fetch(`${url}/mcp`, { method: 'POST', headers, body: JSON.stringify(question) })
  expect(asked.status).toBe(200)
  running.kill('SIGTERM')
  await once(running, 'exit')
  await utimes(source, 1, 1)
  await node('clone/build.ts')
  expect(await listBuilds()).toHaveLength(1)
  // So does a file that is gone.
  await rm(source)
  await expect(version()).rejects.toThrow('version.ts')
})
