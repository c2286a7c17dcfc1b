import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as core from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import { describe, expect, it } from 'vitest'
import { openRegistry } from '../support/open-registry.ts'

describe('the package @skillstead/core', () => {
  it('exports exactly the names that programs that embed a registry need', () => {
    expect(Object.keys(core).toSorted()).toEqual([
      'RegistryError',
      'guest',
      'isRegistryError',
      'localApi',
      'openRegistry',
      'openSkills',
      'policyActions',
      'secretKeyBytes',
      'systemCaller',
      'systemClock',
    ])
  })

  it.each(['@skillstead/core', '@skillstead/core/internal'])(
    'throws an error of one sentence on an outdated Node.js when %s is imported, and loads no native code',
    async (entry) => {
      const versions = `{ ...process.versions, node: '22.13.1', napi: '9' }`
      const program = `Object.defineProperty(process, 'versions', { value: ${versions} })
        process.dlopen = () => console.log('Native code was loaded.')
        await import('${entry}').catch((error) => console.log(error.message))`
      const { stdout } = await promisify(execFile)(
        process.execPath,
        ['--conditions=source', '--input-type=module', '--eval', program],
        { cwd: import.meta.dirname },
      )
      expect(stdout).toBe('Skillstead needs Node 22.14 or later; this is Node 22.13.1.\n')
    },
  )
  it('describes each of its functions and values, with an example', () => {
    const folders = ['core', 'protocol'].map((name) => join(import.meta.dirname, '../../packages', name, 'src'))
    const sources = folders
      .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)))
      .filter((path) => path.endsWith('.ts'))
      .map((path) => readFileSync(path, 'utf8'))
    const isDescribed = (name: string) => {
      const pattern = new RegExp(
        `@example\\n(?: \\* .+\\n)+ \\*/\\nexport (?:async function|function|const|class) ${name}\\b`,
      )
      return sources.some((source) => pattern.test(source))
    }
    expect(Object.keys(core).filter((name) => !isDescribed(name))).toEqual([])
  })

  it('returns a registry with operations only, without its database, secrets or other parts', async () => {
    const registry = await openRegistry({ path: ':memory:' })
    expect(Object.keys(registry).toSorted()).toEqual([
      'addMetrics',
      'authenticate',
      'authenticateSession',
      'close',
      'endWaits',
      'getCaller',
      'metrics',
      'readiness',
      'verifierKeys',
    ])
    await registry.close()
  })

  it('returns from openSkills exactly the members that the documentation names', async () => {
    const skills = await core.openSkills({ path: ':memory:' })
    expect(Object.keys(skills).toSorted()).toEqual([
      'api',
      'changes',
      'close',
      'importFolder',
      'load',
      'registry',
      'search',
      'toTool',
    ])
    await skills.close()
  })

  it('calls endpoints of a copied registry object, and throws a TypeError for any other object', async () => {
    const registry = await openRegistry({ path: ':memory:' })
    const copy = { ...registry, close: async () => {} }
    expect((await core.localApi(copy).searchSkills({})).total).toBe(0)
    expect(() => partsOf({} as never)).toThrow(TypeError)
    await expect(core.localApi({} as never).searchSkills({})).rejects.toThrow('This is not a registry')
    await registry.close()
  })
})
