import { describe, expect, it } from 'vitest'
import { verifyCheckpoint } from '@skillstead/client/verify'
import { partsOf, readSignedCheckpoint, rotateKey, signText } from '@skillstead/core/internal'
import { checkRegistry } from '@skillstead/maintenance'
import { textOf } from '../support/answers.ts'
import { makeFolder, skillstead, skillsteadJson, startServer } from '../support/cli-harness.ts'
import { describeDatabases } from '../support/harness.ts'
import { appendMany } from '../support/log-acts.ts'
import { idOf, readCheckpoint, readKeys } from '../support/signed-log.ts'
import { openRegistry } from '../support/open-registry.ts'

const dayMs = 24 * 60 * 60 * 1000

describeDatabases('the keys of a node', (open) => {
  it('are rotated with an overlap in which the old and the new key both sign', async () => {
    const test = await open({ origin: 'keys.example' })
    await appendMany(test, 2)
    const api = test.api()
    const [first] = await readKeys(api)
    const readWith = async (vkeys: string[]) => readCheckpoint(await textOf(await api.getCheckpoint()), vkeys)
    expect(await readWith([first!])).toMatchObject({ signers: [idOf(first!)], lines: 1 })

    test.clock.advance(dayMs)
    const rotated = await rotateKey(partsOf(test.registry))
    const [second] = await readKeys(api)
    expect(second).not.toBe(first)
    expect(rotated.map(({ vkey, state }) => ({ vkey, state }))).toEqual([
      { vkey: second, state: 'current' },
      { vkey: first, state: 'overlap' },
    ])
    expect(await readKeys(api)).toEqual([second, first])
    // The same tree: the checkpoint signed before differs from the current response.
    expect(await readWith([first!, second!])).toMatchObject({ signers: [idOf(second!), idOf(first!)], lines: 2 })
    expect(await readWith([first!])).toMatchObject({ signers: [idOf(first!)] })
    expect((await api.getFeed()).checkpoint).toBe(await textOf(await api.getCheckpoint()))
    // The old key certifies the new one, and only while both sign.
    expect(await readWith([first!])).toMatchObject({ named: [second, first] })
    expect(verifyCheckpoint(await textOf(await api.getCheckpoint()), [first!]).endorsedKeys).toEqual([second, first])

    test.clock.advance(30 * dayMs)
    expect(await readKeys(api)).toEqual([second])
    expect(await readWith([first!, second!])).toMatchObject({ signers: [idOf(second!)], lines: 1, named: [] })
    expect((await test.registry.verifierKeys()).map(({ state }) => state)).toEqual(['current', 'retired'])
  })

  it('sign the time at which a checkpoint was current, rounded down to a minute', async () => {
    const test = await open({ origin: 'time.example' })
    await appendMany(test, 1)
    const keys = await readKeys(test.api())
    const read = async () => readCheckpoint(await textOf(await test.api().getCheckpoint()), keys)
    const startMs = test.clock.now()
    expect(await read()).toMatchObject({ times: [startMs], named: [] })
    const { text, tag } = await readSignedCheckpoint(partsOf(test.registry))
    test.clock.advance(59_999)
    expect(await readSignedCheckpoint(partsOf(test.registry))).toMatchObject({ text, tag })
    test.clock.advance(1)
    expect(await read()).toMatchObject({ times: [startMs + 60_000] })
    const later = await readSignedCheckpoint(partsOf(test.registry))
    expect(later.tag).not.toBe(tag)
    // The permanent proof of a version does not change every minute.
    expect(later.text.startsWith(later.timeless)).toBe(true)
    expect(text.startsWith(later.timeless)).toBe(true)
    expect(verifyCheckpoint(later.text, keys).signedAt).toBe(startMs + 60_000)
    for (let i = 0; i < 8; i += 1) await rotateKey(partsOf(test.registry))
    const many = await readKeys(test.api())
    expect(await read()).toMatchObject({ lines: 9, times: [] })
    expect(verifyCheckpoint(await textOf(await test.api().getCheckpoint()), [...keys, ...many])).toMatchObject({
      signedAt: startMs + 60_000,
      endorsedKeys: many,
    })
  })

  it('are read again after another process rotated them', async () => {
    const one = await open({ origin: 'turn.example' })
    const two = await open({ at: one.location, origin: 'turn.example', clock: one.clock })
    await textOf(await two.api().getCheckpoint())
    await rotateKey(partsOf(one.registry), { overlapMs: 0 })
    const vkeys = await readKeys(one.api())
    expect(await readKeys(two.api())).toEqual(vkeys)
    expect(readCheckpoint(await textOf(await two.api().getCheckpoint()), vkeys).signers).toEqual([idOf(vkeys[0]!)])
  })

  it('each add one signature line to any text that the node signs', async () => {
    const test = await open({ origin: 'lines.example' })
    await rotateKey(partsOf(test.registry))
    const lines = await signText(partsOf(test.registry), '{"a":1}')
    const vkeys = await readKeys(test.api())
    expect(lines.map((line) => Buffer.from(line.split(' ')[2]!, 'base64').subarray(0, 4).toString('hex'))).toEqual(
      vkeys.map(idOf),
    )
  })

  it('have a private part that never leaves the database, and that is deleted when the key is retired', async () => {
    const test = await open({ origin: 'quiet.example' })
    const readPrivate = async () => {
      const rows = await partsOf(test.registry)
        .database.read.selectFrom('signing_keys')
        .selectAll()
        .orderBy('number')
        .execute()
      return rows.map(({ private_key }) => private_key && Buffer.from(private_key))
    }
    await rotateKey(partsOf(test.registry), { overlapMs: dayMs })
    const secrets = await readPrivate()
    expect(secrets.map((secret) => secret?.length)).toEqual([48, 48])
    const said = JSON.stringify([
      await test.admin.api.listAudit({}),
      await test.registry.metrics(),
      await test.api().getFeed(),
      await checkRegistry(test.registry),
      await test.registry.verifierKeys(),
      await textOf(await test.api().getPublicKey()),
      await textOf(await test.api().getCheckpoint()),
    ])
    for (const secret of secrets) {
      // The last 32 bytes are the seed.
      const seed = secret!.subarray(16)
      for (const encoding of ['hex', 'base64', 'base64url'] as const) {
        expect(said).not.toContain(secret!.toString(encoding).slice(24, 48))
        expect(said).not.toContain(seed.toString(encoding).slice(0, 20))
      }
    }
    const { entries } = await test.admin.api.listAudit({})
    expect(entries.map(({ action }) => action)).toContain('key.rotate')
    test.clock.advance(dayMs)
    await rotateKey(partsOf(test.registry))
    expect((await readPrivate()).map((secret) => secret?.length)).toEqual([undefined, 48, 48])
  })

  it('are all retired at once by a rotation without overlap, except the new key', async () => {
    const test = await open({ origin: 'theft.example' })
    const [first] = await readKeys(test.api())
    await rotateKey(partsOf(test.registry), { overlapMs: 30 * dayMs })
    test.clock.advance(dayMs)
    const [second] = await readKeys(test.api())
    const rotated = await rotateKey(partsOf(test.registry), { overlapMs: 0 })
    const [third, ...others] = await readKeys(test.api())
    expect(others).toEqual([])
    expect(rotated.map(({ vkey, state }) => [vkey, state])).toEqual([
      [third, 'current'],
      [second, 'retired'],
      [first, 'retired'],
    ])
    const { signers } = readCheckpoint(await textOf(await test.api().getCheckpoint()), [first!, second!, third!])
    expect(signers).toEqual([idOf(third!)])
    const rows = await partsOf(test.registry)
      .database.read.selectFrom('signing_keys')
      .selectAll()
      .orderBy('number')
      .execute()
    expect(rows.map(({ private_key }) => private_key !== null)).toEqual([false, false, true])
  })

  it('keep their end date if a later rotation has a longer overlap', async () => {
    const test = await open({ origin: 'sooner.example' })
    await rotateKey(partsOf(test.registry), { overlapMs: dayMs })
    const before = await test.registry.verifierKeys()
    const after = await rotateKey(partsOf(test.registry), { overlapMs: 30 * dayMs })
    expect(after[2]).toEqual(before[1])
  })

  it.each(['a b', 'a+b', ''])('are not created for a node with the invalid name %j', async (origin) => {
    await expect(openRegistry({ path: ':memory:', origin })).rejects.toThrow(TypeError)
  })
})

describeDatabases('the name of a node', (open) => {
  it('is stored, so that a process that is started without a name uses the stored name', async () => {
    const made = await open({ empty: true })
    const one = await open({ at: made.location, origin: 'named.example', clock: made.clock })
    await appendMany(one, 1)
    const two = await open({ at: made.location, clock: made.clock })
    expect(partsOf(two.registry).origin).toBe('named.example')
    expect(await textOf(await two.api().getCheckpoint())).toBe(await textOf(await one.api().getCheckpoint()))
  })

  it('is refused, without changes, if the log has entries under another name', async () => {
    const one = await open({ origin: 'first.example' })
    await appendMany(one, 1)
    await expect(openRegistry({ ...one.location, origin: 'second.example' })).rejects.toThrow(
      "The log of this database is named 'first.example' and cannot be renamed to 'second.example'",
    )
    const again = await open({ at: one.location, clock: one.clock })
    expect(partsOf(again.registry).origin).toBe('first.example')
  })
})

describe('serve --origin', () => {
  it('sets the name of the log and of its key, which cannot change once the log has entries', async () => {
    const data = `${await makeFolder()}/data`
    const server = await startServer(['serve', '--port', '0', '--data', data, '--origin', 'skills.example/registry'])
    const checkpoint = await (await fetch(`${server.url}/api/v1/checkpoint`)).text()
    await server.stop()
    expect(checkpoint.split('\n').slice(0, 2)).toEqual(['skills.example/registry', '0'])
    const { keys } = await skillsteadJson<{ keys: string[] }>(['key', '--data', data])
    expect(keys).toEqual([expect.stringMatching(/^skills\.example\/registry\+[0-9a-f]{8}\+/)])
    await skillsteadJson(['examples', '--data', data])
    const { code, stdout, stderr } = await skillstead(['serve', '--port', '0', '--data', data, '--origin', 'other'])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^The log of this database is named 'skills\.example\/registry' [^\n]+\.\n$/)
  })

  it.each(['a b', 'a+b', '', 'x'.repeat(256)])(
    '%j is a usage error in one sentence, and creates nothing',
    async (name) => {
      const data = `${await makeFolder()}/data`
      const { code, stdout, stderr } = await skillstead(['serve', '--data', data, '--origin', name])
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      expect(stderr).toMatch(/is not a valid origin\. [^\n]+\.\n$/)
      expect((await skillstead(['key', '--data', data])).stderr).toContain('There is no registry in')
    },
  )
})
