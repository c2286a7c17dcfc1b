import { verifyProvenance } from '@skillstead/client/verify'
import { localApi } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import { checkRegistry } from '@skillstead/maintenance'
import { importBundle } from '@skillstead/mirror'
import type { RegistryApi } from '@skillstead/protocol'
import { afterEach, expect, it } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { bundleOf, openPublisher } from '../support/bundle-acts.ts'
import { describeDatabases, type TestRegistry } from '../support/harness.ts'
import { endMirrors, openMirror, openUpstream } from '../support/mirror-harness.ts'
import { findDamage } from '../support/mirror-state.ts'
import { readKeys } from '../support/signed-log.ts'

afterEach(endMirrors)

const identity = { issuer: 'https://ci.example', claims: { ref: 'refs/heads/main', repository: 'alice/skills' } }

async function publishFromCi({ registry }: Pick<TestRegistry, 'registry'>, version: string) {
  const caller = { ...(await registry.getCaller('alice')), identity }
  await localApi(registry, caller).publishSkill({ skillMd: skillMd('tea', { body: version }), version })
}

/** The identities of the versions, in their details and in the proof by the log. */
async function readIdentities(api: RegistryApi, keys: readonly string[]) {
  const identities = []
  for (const version of ['1.0.0', '2.0.0']) {
    const shown = await api.getVersion({ name: 'alice/tea', version })
    const report = verifyProvenance(await api.getProvenance({ name: 'alice/tea', version }), { keys })
    identities.push([shown.identity, report.ok && report.entry?.data.identity])
  }
  return identities
}

const expected = [
  [identity, identity],
  [undefined, undefined],
]

describeDatabases('the CI identity that published a version', (open) => {
  it('is imported by a mirror, and proven by the key of the publishing node', async () => {
    const upstream = await openUpstream(open)
    await publishFromCi(upstream.test, '1.0.0')
    await upstream.publish('tea', '2.0.0')
    const keys = await readKeys(upstream.alice.api)
    expect(await readIdentities(upstream.alice.api, keys)).toEqual(expected)
    const { mirror, test } = await openMirror(open)
    await mirror.add('main', upstream.url)
    expect(await mirror.sync('main')).toMatchObject({ applied: 2, refusedTotal: 0 })
    expect(await readIdentities(test.api(), keys)).toEqual(expected)
    expect(await findDamage(test.registry)).toEqual([])
    await partsOf(test.registry).database.writer.write((trx) =>
      trx.updateTable('versions').set({ identity: null }).execute(),
    )
    const findings = await checkRegistry(test.registry, { deep: true })
    expect(findings.filter(({ ok }) => !ok).map(({ name, detail }) => [name, detail])).toEqual([
      ['entries', expect.stringMatching(/alice\/tea@1\.0\.0 and entry 1 of the log differ in identity/)],
    ])
  })

  it('is imported from a bundle', async () => {
    const origin = await openPublisher(open)
    await publishFromCi(origin, '1.0.0')
    await origin.publish('tea', '2.0.0')
    const { registry, api } = await open({ origin: 'away.example', works: false })
    await importBundle(registry, await bundleOf(origin))
    expect(await readIdentities(api(), [origin.key])).toEqual(expected)
  })
})
