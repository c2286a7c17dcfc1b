import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeFolder, skillstead, skillsteadJson } from '../support/cli-harness.ts'
import { toDocument } from '../support/rules-bundles.ts'

/** A folder with rules, a key, and a bundle of the rules. */
async function prepare() {
  const folder = await makeFolder()
  const [rules, keyFile, bundle, data] = ['rules.json', 'rules.key', 'rules.bundle', 'data'].map((name) =>
    join(folder, name),
  ) as [string, string, string, string]
  await writeFile(rules, JSON.stringify(toDocument()))
  const { key } = await skillsteadJson<{ key: string }>(['rules', 'key', 'rules.example.com', keyFile])
  const sign = (release: number) =>
    writeFile(rules, JSON.stringify(toDocument({ release }))).then(() =>
      skillstead(['rules', 'sign', rules, bundle, '--key-file', keyFile]),
    )
  return { folder, rules, keyFile, bundle, data, key, sign }
}

describe('skillstead rules', () => {
  it('creates a signing key that only its owner can read, and never replaces a file', async () => {
    const { keyFile, key } = await prepare()
    expect(key).toMatch(/^rules\.example\.com\+[0-9a-f]{8}\+/)
    expect((await stat(keyFile)).mode & 0o777).toBe(0o600)
    const before = await readFile(keyFile, 'utf8')
    expect(await skillstead(['rules', 'key', 'other.example.com', keyFile])).toMatchObject({ code: 1 })
    expect(await readFile(keyFile, 'utf8')).toBe(before)
    expect(await skillstead(['rules', 'key', 'with space', `${keyFile}2`])).toMatchObject({ code: 2 })
  })

  it('signs rules, verifies them, and scans with them', async () => {
    const { folder, rules, keyFile, bundle, key, sign } = await prepare()
    expect(await sign(2)).toMatchObject({ code: 0, stdout: `Signed ${bundle}.\n` })
    const { stdout } = await skillstead(['rules', 'verify', bundle, '--key', key])
    expect(stdout).toMatch(
      /^Release 2 of 2026-11-24, signed by rules\.example\.com\+\w{8}\n  quokka-order  Orders a quokka\n$/,
    )
    await writeFile(join(folder, 'SKILL.md'), 'Then buy the quokka.\n')
    const scanned = await skillstead(['scan', join(folder, 'SKILL.md'), '--rules', bundle, '--rules-key', key])
    expect(scanned.stdout).toContain('Orders a quokka')

    await writeFile(rules, JSON.stringify(toDocument({}, { id: 'Not an id' })))
    const refused = await skillstead(['rules', 'sign', rules, join(folder, 'none'), '--key-file', keyFile])
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('`rules.0.id`') })
    await expect(stat(join(folder, 'none'))).rejects.toThrow('ENOENT')
  })

  it('updates the rules of a registry from a followed rule bundle, until the bundle is removed', async () => {
    const { bundle, data, key, sign } = await prepare()
    const at = ['--data', data]
    await skillstead(['users', 'create', 'ada', ...at])
    await sign(2)
    expect(await skillstead(['rules', 'show', ...at])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no bundle'),
    })
    const followed = await skillstead(['rules', 'follow', bundle, '--key', key, ...at])
    expect(followed).toMatchObject({ code: 0, stdout: expect.stringContaining(`  source   ${bundle}\n`) })
    await sign(3)
    expect(await skillsteadJson(['rules', 'update', ...at])).toMatchObject({ release: 3, source: bundle, error: null })
    await sign(1)
    expect(await skillstead(['rules', 'update', ...at])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('older than'),
    })
    const shown = await skillstead(['rules', 'show', ...at])
    expect(shown.stdout).toMatch(/^Release 3 of [^]*\n  failed   The bundle of rules at .* is release 1, older/)
    expect(await skillsteadJson(['rules', 'remove', ...at])).toEqual({ removed: bundle })
    expect(await skillstead(['rules', 'remove', ...at])).toMatchObject({ code: 1 })
  })
})
