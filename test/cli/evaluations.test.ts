import { localApi, type Registry, systemCaller } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { makeFolder, skillstead, skillsteadJson } from '../support/cli-harness.ts'
import { passed, post, publish, ranAt } from '../support/evaluation-acts.ts'
import { makeSshSigner, toSigned } from '../support/ssh-signer.ts'
import { openRegistry } from '../support/open-registry.ts'

async function makeApi(registry: Registry, username: string) {
  await localApi(registry, systemCaller).createUser({ username })
  return { api: localApi(registry, await registry.getCaller(username)) }
}

describe('evaluation results on the command line', () => {
  let data: string
  const run = (...args: string[]) => skillstead([...args, '--data', data])
  beforeAll(async () => {
    data = await makeFolder()
    const registry = await openRegistry({ path: `${data}/skillstead.db` })
    const [alice, bob] = [await makeApi(registry, 'alice'), await makeApi(registry, 'bob')]
    for (const version of ['1.0.0', '1.1.0']) await publish(alice, 'tool', version)
    await publish(alice, 'unmeasured', '1.0.0')
    await publish(alice, 'useless', '1.0.0')
    await post(alice, 'tool', '1.0.0', passed(100, { model: 'model-b' }))
    await post(bob, 'tool', '1.1.0', passed(80))
    await post(alice, 'tool', '1.1.0', passed(90, { model: 'model-b', withoutSkill: undefined }))
    await post(bob, 'useless', '1.0.0', passed(50, { ranAt: ranAt(2) }))
    await registry.close()
  })

  it('are shown by `show`, which marks a version with worse results than an earlier version', async () => {
    const { stdout } = await run('show', 'alice/tool')
    expect(stdout).toMatch(/ evaluations 2 users, 1 by the owner, worse than 1\.0\.0\n/)
    expect(stdout).toMatch(/ with +85 % of runs pass, 95 % interval 79 % to 89 %\n/)
    expect(stdout).toMatch(/ effect +\+30 points, 95 % interval \+17 to \+42\n/)
    expect((await run('show', 'alice/useless')).stdout).toContain('no difference shown')
    expect((await run('show', 'alice/unmeasured')).stdout).not.toContain('evaluations')
  })

  it('order a search by the effect of the skills', async () => {
    const { skills } = await skillsteadJson<{ skills: { name: string }[] }>([
      'search',
      '',
      '--sort',
      'effect',
      '--data',
      data,
    ])
    expect(skills.map(({ name }) => name)).toEqual(['tool', 'useless', 'unmeasured'])
    const { stdout } = await run('search', '', '--sort', 'effect')
    expect(stdout).toMatch(/evaluations: at least 17 points better than without the skill/)
    expect(stdout).toMatch(/evaluations: no benefit shown/)
  })

  it('are verified in the log by `verify`', async () => {
    const { stdout, code } = await run('verify', 'alice/tool')
    expect(code).toBe(0)
    expect(stdout).toMatch(/ evaluation +alice with model-b: 90 of 100 runs passed \(entry \d+\)\n/)
    expect(stdout).toMatch(/ evaluation +bob with model-a: 80 of 100 runs passed, 50 of 100 without \(entry \d+\)\n/)
    expect(stdout).toMatch(/ not signed +results without a key: \S+ states who posted them\n/)
    const verified = await skillsteadJson<{ evaluations: unknown[] }>(['verify', 'alice/unmeasured', '--data', data])
    expect(verified.evaluations).toEqual([])
  })

  it('with signatures of users are verified in the log, even after the skill was renamed', async () => {
    const signer = makeSshSigner()
    const folder = await makeFolder()
    const registry = await openRegistry({ path: `${folder}/skillstead.db` })
    const [alice, bob] = [await makeApi(registry, 'alice'), await makeApi(registry, 'bob')]
    const signed = async (name: string, more: object) => {
      const of = { name: `alice/${name}`, version: '1.0.0' }
      await publish(alice, name, '1.0.0', more)
      await post(alice, of.name, of.version, await toSigned(alice, of, { signer, result: passed(90) }))
    }
    await signed('sent', {})
    await alice.api.transferSkill({ name: 'sent', newOwner: 'bob' })
    await bob.api.acceptTransfer({ name: 'alice/sent' })
    // As a malicious node would: it changes the result before the log has it.
    await signed('forged', { visibility: 'private' })
    await partsOf(registry).database.writer.write((trx) =>
      trx
        .updateTable('evaluations')
        .set({ result: sql`replace(result, '"passed":90', '"passed":99')` })
        .where('skill_id', '=', (eb) => eb.selectFrom('skills').select('id').where('name', '=', 'forged'))
        .execute(),
    )
    await alice.api.publishSkill({ name: 'alice/forged', visibility: 'public' })
    await registry.close()
    const place = ['--data', folder]
    const { stdout, code } = await skillstead(['verify', 'bob/sent', ...place])
    expect(code).toBe(0)
    expect(stdout).toContain(`90 of 100 runs passed, 50 of 100 without, signed by key ${signer.fingerprint} (entry `)
    expect(stdout).not.toContain('not signed')
    expect((await skillstead(['show', 'bob/sent', ...place])).stdout).toContain(
      `    signed by key ${signer.fingerprint}\n`,
    )
    const forged = await skillstead(['verify', 'alice/forged', ...place])
    expect(forged.code).toBe(1)
    expect(forged.stdout).toMatch(/ evaluation +The signature of the result of alice does not match what was signed/)
  })
})
