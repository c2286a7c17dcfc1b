import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { countUnscanned, followRules, getRules, partsOf, removeRules, updateRules } from '@skillstead/core/internal'
import { listenNode } from '@skillstead/server'
import { describe, expect, it, onTestFinished } from 'vitest'
import { codeOf, skillMd } from '../support/answers.ts'
import { makeFolder } from '../support/cli-harness.ts'
import { describeDatabases, type Open, type TestRegistry } from '../support/harness.ts'
import { makeBundle, publisher, stranger } from '../support/rules-bundles.ts'

const hourMs = 3_600_000
const keys = [publisher.verifierKey]
const body = 'Then buy the quokka.'

/** A file with a bundle, which `replace` replaces. */
async function writeBundle(release: number, changes: object = {}) {
  const source = join(await makeFolder(), 'rules.bundle')
  const replace = async (next: number, more: object = {}, key = publisher) =>
    writeFile(source, await makeBundle({ release: next, ...more }, {}, key))
  await replace(release, changes)
  return { source, replace }
}

const publish = async (test: TestRegistry, name: string) => {
  const { api } = await test.makeUser(`author-${name}`)
  const { skill } = await api.publishSkill({ skillMd: skillMd(name, { body }) })
  return skill.fullName
}

async function findingsOf(test: TestRegistry, name: string) {
  const { security } = await test.api().getSkill({ name })
  return security?.findings.map(({ ruleId }) => ruleId)
}

/** The number of versions to scan, a minute later. Does not call the API: a rescan pauses for callers. */
function waitingLater({ clock, registry }: TestRegistry) {
  clock.advance(60_000)
  return countUnscanned(partsOf(registry))
}

/** Waits until all versions are scanned. Any node may have scanned them, so the node reads its changes. */
async function allScanned(test: TestRegistry) {
  await expect.poll(() => waitingLater(test)).toBe(0)
  await partsOf(test.registry).changes.catchUp()
}

async function open(openTest: Open, options: Parameters<Open>[0] = {}) {
  const errors: unknown[] = []
  const test = await openTest({ onError: (error) => errors.push(error), ...options })
  return { test, errors, context: partsOf(test.registry) }
}

describeDatabases('a bundle of scan rules', (openTest) => {
  it('applies to new versions on every node, and causes a rescan of stored versions', async () => {
    const { test, context } = await open(openTest)
    const other = await open(openTest, { at: test.location, clock: test.clock })
    const before = await publish(test, 'early')
    expect(await findingsOf(test, before)).toEqual([])

    const { source } = await writeBundle(3)
    await followRules(context, { source, keys })
    expect(await findingsOf(test, await publish(test, 'late'))).toEqual(['quokka-order'])
    await other.context.changes.catchUp()
    expect(await findingsOf(other.test, await publish(other.test, 'elsewhere'))).toEqual(['quokka-order'])
    await allScanned(test)
    expect(await findingsOf(test, before)).toEqual(['quokka-order'])
    const { security } = await test.api().getSkill({ name: before })
    expect(security!.rulesVersion).toMatch(/^\d+\.[0-9a-f]{12}\+3\.[0-9a-f]{12}$/)

    const restarted = await open(openTest, { at: test.location, clock: test.clock })
    expect(await findingsOf(restarted.test, await publish(restarted.test, 'again'))).toEqual(['quokka-order'])

    await removeRules(context)
    expect(await findingsOf(test, await publish(test, 'free'))).toEqual([])
    await allScanned(test)
    expect(await findingsOf(test, before)).toEqual([])
    await expect(getRules(context)).rejects.toMatchObject({ code: 'not_found' })
    expect(await codeOf(test.api().getRulesBundle({}))).toBe('not_found')
  })

  it('is replaced by a newer release within an hour, and never by an older, foreign or invalid bundle', async () => {
    const { test, errors, context } = await open(openTest)
    const { source, replace } = await writeBundle(5)
    await followRules(context, { source, keys })
    const releaseAt = async () => (await getRules(context)).bundle.release

    await replace(6)
    test.clock.advance(hourMs)
    await expect.poll(releaseAt).toBe(6)

    const refused = async (message: RegExp) => {
      await expect(updateRules(context)).rejects.toMatchObject({
        code: 'invalid_request',
        message: expect.stringMatching(message),
      })
      expect(await getRules(context)).toMatchObject({ error: expect.stringMatching(message), bundle: { release: 6 } })
    }
    await replace(4)
    await refused(/is release 4, older than the installed 6\./)
    await replace(6, { date: '2026-11-25' })
    await refused(/differs from the installed one, but has the same release 6/)
    await replace(7, {}, stranger)
    await refused(/was refused\. The signature of the bundle of rules is by the key stranger/)
    await writeFile(source, 'x'.repeat(600_000))
    await refused(/is larger than 512 KiB/)
    await expect(followRules(context, { source: join(source, 'none'), keys })).rejects.toMatchObject({
      code: 'invalid_request',
    })
    expect(errors).toEqual([])

    test.clock.advance(hourMs)
    await expect.poll(() => errors).toMatchObject([{ message: expect.stringMatching(/larger than 512 KiB/) }])
    expect(await findingsOf(test, await publish(test, 'still'))).toEqual(['quokka-order'])

    // The operator trusts another publisher instead: its releases have numbers of their own.
    await replace(1, {}, stranger)
    await followRules(context, { source, keys: [stranger.verifierKey] })
    expect(await getRules(context)).toMatchObject({ error: null, bundle: { release: 1 } })
  })
})

describe('a node that takes its scan rules from another node', () => {
  const allowNetworks = ['127.0.0.0/8', '::1/128']

  describeDatabases('installs the bundle that the other node serves', (openTest) => {
    it('and serves the bundle to other nodes as it was signed', async () => {
      const first = await open(openTest)
      const { source } = await writeBundle(8)
      await followRules(first.context, { source, keys })
      const node = await listenNode(first.test.registry, { port: 0, rates: 'off' })
      onTestFinished(() => node.close())

      const second = await open(openTest, { outgoing: { allowNetworks } })
      await followRules(second.context, { source: node.url, keys })
      expect(await findingsOf(second.test, await publish(second.test, 'far'))).toEqual(['quokka-order'])
      const [original, served] = await Promise.all([first, second].map(({ test }) => test.api().getRulesBundle({})))
      expect(served).toEqual(original)
      await expect(
        followRules(second.context, { source: node.url, keys: [stranger.verifierKey] }),
      ).rejects.toMatchObject({
        code: 'invalid_request',
      })

      await removeRules(first.context)
      await expect(updateRules(second.context)).rejects.toMatchObject({ code: 'upstream_failed' })
      expect(await getRules(second.context)).toMatchObject({ bundle: { release: 8 }, error: /status 404/ })
    })
  })

  describeDatabases('sends no request to a private address, nor to any address when offline', (openTest) => {
    it('but reads a bundle from a file', async () => {
      const { context } = await open(openTest)
      const source = 'http://127.0.0.1:8123/rules.bundle'
      await expect(followRules(context, { source, keys })).rejects.toMatchObject({ code: 'invalid_request' })
      const offline = await open(openTest, { outgoing: { offline: true, allowNetworks } })
      await expect(followRules(offline.context, { source, keys })).rejects.toMatchObject({ code: 'offline' })
      const { source: file } = await writeBundle(1)
      await expect(followRules(offline.context, { source: file, keys })).resolves.toMatchObject({ error: null })
    })
  })
})
