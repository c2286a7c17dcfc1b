import { partsOf } from '@skillstead/core/internal'
import { afterEach, expect, it } from 'vitest'
import { codeOf, fieldsOf, refusalOf } from '../support/answers.ts'
import { describeApi, type Open, type TestRegistry } from '../support/harness.ts'
import { endMirrors, openMirror, openUpstream } from '../support/mirror-harness.ts'
import { openPair, type WritingPair } from '../support/mirror-writes-acts.ts'
import { createNoteSigner } from '../support/note-signer.ts'
import { withUpstreams } from '../../packages/mirror/src/tables/mirror-tables.ts'

const opened: WritingPair[] = []
afterEach(async () => {
  await endMirrors()
  for (const pair of opened.splice(0)) await pair.close()
})

/** Upstreams of tests are on this machine. */
const outgoing = { allowNetworks: ['127.0.0.0/8'] }
const unknownId = '01890a5d-ac96-774b-bcce-b302099a8057'

async function openPairOf(open: Open) {
  const pair = await openPair(open)
  opened.push(pair)
  return pair
}

async function untilSynced({ admin }: TestRegistry, upstream: string) {
  await expect.poll(async () => (await admin.api.getMirror({ upstream })).state).toBe('current')
  return admin.api.getMirror({ upstream })
}

describeApi('the upstreams of a node', (open) => {
  it('cannot be added if the node is not a mirror, and the error explains the reason', async () => {
    const test = await open()
    expect(await test.admin.api.listMirrors()).toEqual({ mirrors: [], total: 0 })
    const { code, message } = await refusalOf(test.admin.api.addMirror({ name: 'main', url: 'https://example.com' }))
    expect([code, message]).toEqual(['conflict', expect.stringContaining('skillstead serve')])
    expect(await codeOf(test.admin.api.getMirror({ upstream: 'main' }))).toBe('conflict')
  })

  it('are added, synced and removed by administrators', async () => {
    const upstream = await openUpstream(open)
    for (const name of ['pdf', 'xlsx']) await upstream.publish(name)
    const { test } = await openMirror(open, {}, { outgoing })
    const { api } = test.admin
    const user = await test.makeUser()
    expect(await codeOf(user.api.addMirror({ name: 'main', url: upstream.url }))).toBe('forbidden')

    const added = await api.addMirror({ name: 'main', url: upstream.url, everySeconds: 0, filters: { names: ['pdf'] } })
    const settings = { mode: 'full', everySeconds: 0, pinned: false, filters: { names: ['pdf'] } }
    expect(added).toMatchObject({ name: 'main', kind: 'node', state: 'new', problem: null, settings, skills: 0 })
    expect(added.keys).toHaveLength(1)
    expect(await codeOf(api.addMirror({ name: 'main', url: upstream.url }))).toBe('name_taken')

    expect(await test.statusOf(test.admin, 'syncMirror', { upstream: 'main' })).toBe(202)
    const synced = await untilSynced(test, 'main')
    expect(synced).toMatchObject({ skills: 1, alarm: null, lastError: null, nextAt: null })
    expect(synced).toMatchObject({ syncedAt: '2026-01-02T12:00:00.000Z', lastReport: { upstream: 'main' } })
    expect(await api.listMirrors()).toEqual({ mirrors: [synced], total: 1 })
    expect(await test.api().getSkill({ name: 'alice/pdf' })).toMatchObject({ origin: { upstream: 'main' } })
    expect(await codeOf(test.api().getSkill({ name: 'alice/xlsx' }))).toBe('not_found')

    await api.removeMirror({ upstream: 'main' })
    expect(await codeOf(api.getMirror({ upstream: 'main' }))).toBe('not_found')
    for (const call of [api.removeMirror, api.syncMirror, api.listMirrorWrites]) {
      expect(await codeOf(call({ upstream: 'main' }))).toBe('not_found')
    }
    expect(await test.api().getSkill({ name: 'alice/pdf' }), 'what came stays').toMatchObject({ name: 'pdf' })
    const { entries } = await api.listAudit({ page: 1 })
    const actions = entries.map(({ action }) => action).filter((action) => action.startsWith('mirror.'))
    expect(actions).toEqual(['mirror.remove', 'mirror.add'])
  })

  it('must have http or https URLs, because the API gives no access to local files', async () => {
    const { test } = await openMirror(open)
    for (const url of ['/etc', 'file:///etc', 'git@example.com:a/b.git', 'ssh://example.com/a', 'ext::sh -c id', 'x']) {
      expect(await fieldsOf(test.admin.api.addMirror({ name: 'main', url })), url).toEqual(['url'])
    }
    for (const kind of ['folder', 'bundle']) {
      const input = { name: 'main', url: 'https://example.com', kind: kind as 'node' }
      expect(await fieldsOf(test.admin.api.addMirror(input)), kind).toEqual(['kind'])
    }
    expect((await test.admin.api.listMirrors()).total).toBe(0)
  })

  it('must have a public address, unless the operator allows a private network', async () => {
    const { test } = await openMirror(open, {}, { outgoing })
    for (const host of ['10.0.0.1', '169.254.169.254', '[::1]', '[::ffff:10.0.0.1]', '0xa9fea9fe', 'db.internal']) {
      for (const kind of ['node', 'registry', 'discovery', 'git'] as const) {
        const { api } = test.admin
        const refusal = await refusalOf(api.addMirror({ name: 'main', url: `http://a:b@${host}/x`, kind }))
        expect([refusal.code, refusal.message], host).toEqual([
          'invalid_request',
          expect.stringContaining('public host'),
        ])
      }
    }
    const { total } = await test.admin.api.listMirrors()
    expect(total).toBe(0)
  })

  it('are paused, with a visible reason, until an administrator resumes them', async () => {
    const upstream = await openUpstream(open)
    await upstream.publish('pdf')
    const { test } = await openMirror(open, {}, { outgoing })
    const { api } = test.admin
    await api.addMirror({ name: 'main', url: upstream.url })
    await api.syncMirror({ upstream: 'main' })
    await untilSynced(test, 'main')
    await partsOf(test.registry).database.writer.write(async (trx) => {
      const alarm = JSON.stringify({ code: 'mass_removal', message: 'Much would go.', at: test.clock.now() })
      await withUpstreams(trx).updateTable('upstreams').set({ alarm }).execute()
    })
    const alarm = { code: 'mass_removal', message: 'Much would go.', at: '2026-01-02T12:00:00.000Z' }
    expect(await api.getMirror({ upstream: 'main' })).toMatchObject({ state: 'stopped', alarm })
    expect(await api.getOverview()).toMatchObject({ network: 'prefer-local', alarms: [{ upstream: 'main', ...alarm }] })
    // The response has the error if the run ends within 250 ms, which a busy machine may miss.
    const refused = async () => {
      const { code, message } = await refusalOf(api.syncMirror({ upstream: 'main' }))
      return [code, message]
    }
    await expect.poll(refused).toEqual(['conflict', expect.stringContaining('is paused')])
    await api.syncMirror({ upstream: 'main', accept: 'mass_removal' })
    await untilSynced(test, 'main')
    const { entries } = await api.listAudit({ action: 'mirror.sync' })
    expect(entries).toMatchObject([{ actor: 'root', subject: 'main', data: { accept: 'mass_removal' } }])
  })

  it('are added even if unreachable, and show the reason why a request or sync failed', async () => {
    const { test } = await openMirror(open, {}, { outgoing })
    const { api } = test.admin
    const added = await api.addMirror({ name: 'gone', url: 'http://127.0.0.1:2' })
    const problem =
      'The request to http://127.0.0.1:2 failed: the host refused the connection. Check that the server is running.'
    expect(added).toMatchObject({ kind: 'node', problem })
    // Even if there is nothing left to find out.
    const key = createNoteSigner('origin.example').vkey
    const known = await api.addMirror({ name: 'known', url: 'http://127.0.0.1:2', kind: 'node', key })
    expect(known).toMatchObject({ keys: [key], settings: { pinned: true }, problem })
    const begun = await api.syncMirror({ upstream: 'gone' }).catch((error: { code: string }) => error.code)
    expect(['upstream_failed', expect.objectContaining({ state: 'syncing' })]).toContainEqual(begun)
    const failed = async () => (await api.getMirror({ upstream: 'gone' })).lastError?.code
    await expect.poll(failed).toBe('upstream_failed')
  })

  it('are not contacted in offline mode', async () => {
    const { test } = await openMirror(open, { mode: 'offline' })
    const { api } = test.admin
    expect(await api.addMirror({ name: 'main', url: 'https://skills.example.com' })).toMatchObject({ problem: null })
    expect(await codeOf(api.syncMirror({ upstream: 'main' }))).toBe('offline')
    expect((await api.getOverview()).network).toBe('offline')
  })

  it('receive local writes, and administrators resolve the writes that an upstream refuses', async () => {
    const pair = await openPairOf(open)
    const { test } = pair.mirrored
    const { api } = test.admin
    await pair.upstream.publish('tea', '1.0.0', { body: 'Other.' })
    for (const [name, version] of [
      ['tea', '1.0.0'],
      ['tea', '1.1.0'],
      ['cup', '1.0.0'],
    ] as const)
      await pair.write(name, version)
    await pair.deliver()
    const { writes, total } = await api.listMirrorWrites({ upstream: 'main' })
    expect(writes.map(({ subject, version, state }) => [subject, version, state])).toEqual([
      ['ann/tea', '1.0.0', 'conflict'],
      ['ann/tea', '1.1.0', 'pending'],
    ])
    expect(total).toBe(2)
    const conflict = { kind: 'publish', user: 'ann', subjectThere: 'alice/tea', problem: { code: 'version_exists' } }
    expect(writes[0]).toMatchObject({ upstream: 'main', ...conflict })
    expect(await api.getMirror({ upstream: 'main' })).toMatchObject({ writesWaiting: 1, writesInConflict: 1 })
    expect((await api.listMirrorWrites({ upstream: 'main', state: 'delivered' })).total).toBe(1)
    expect((await api.listMirrorWrites({ upstream: 'main', page: 2, limit: 1 })).writes).toEqual([writes[1]])
    expect(await codeOf(api.removeMirror({ upstream: 'main' }))).toBe('conflict')

    const { id } = writes[0]!
    expect(await fieldsOf(api.settleMirrorWrite({ upstream: 'main', id, action: 'rename' }))).toEqual(['newName'])
    expect(await codeOf(api.settleMirrorWrite({ upstream: 'main', id: unknownId, action: 'drop' }))).toBe('not_found')
    const renamed = await api.settleMirrorWrite({ upstream: 'main', id, action: 'rename', newName: 'green-tea' })
    expect(renamed).toMatchObject({ id, subject: 'ann/tea', subjectThere: 'alice/green-tea' })
    await pair.deliver()
    expect((await api.listMirrorWrites({ upstream: 'main' })).total).toBe(0)
    expect(await pair.upstream.test.api().getSkill({ name: 'alice/green-tea' })).toMatchObject({
      latestVersion: '1.1.0',
    })
    expect(await codeOf(api.settleMirrorWrite({ upstream: 'main', id, action: 'drop' }))).toBe('conflict')
    expect((await api.listAudit({ action: 'mirror.rename' })).entries).toMatchObject([{ subject: 'ann/tea' }])
  })
})
