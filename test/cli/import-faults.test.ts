import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import SqliteDatabase from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { writeZip } from '@skillstead/skill-format/archives'
import { makeFolder, skillstead, skillsteadJson } from '../support/cli-harness.ts'
import { openDatabase } from '../support/open-registry.ts'
import { type Poison, poisonRows, poisonText } from '../support/poison.ts'

interface Summary {
  taken: number
  refused: number
  refusals: { id: string; reason: string }[]
}

const skillMd = (name: string, body = 'Do it.') =>
  `---\nname: ${name}\ndescription: Does ${name}.\n---\n# ${name}\n\n${body}\n`
const inCategory = (category: string) =>
  `---\nname: cat\ndescription: A cat.\nmetadata:\n  category: ${category}\n---\n# Cat\n`
const day = (number: number) => `2024-0${number}-01T00:00:00Z`
const record = (id: string, skill: string, more: object = {}) =>
  JSON.stringify({ id, repo: 'x/y', path: `${id}/SKILL.md`, name: id, skillMd: skill, ...more })

async function writeLines(lines: string[], name = 'records.ndjson') {
  const folder = await makeFolder()
  const file = join(folder, name)
  const text = lines.join('\n')
  await writeFile(file, name.endsWith('.gz') ? gzipSync(text) : text)
  return { file, data: join(folder, 'data') }
}

function onStore<T>(data: string, work: (store: SqliteDatabase.Database) => T): T {
  const store = new SqliteDatabase(join(data, 'skillstead.db'))
  try {
    return work(store)
  } finally {
    store.close()
  }
}

async function poisonData(data: string, poison: Poison): Promise<void> {
  await skillsteadJson(['users', 'create', 'someone', '--data', data])
  const database = await openDatabase({ path: join(data, 'skillstead.db') })
  await poisonRows(database, poison)
  await database.close()
}

describe('an import of records', () => {
  it('changes nothing in the log when repeated, if the versions of a record have different categories', async () => {
    const versions = ['a', 'b'].map((category, i) => ({ skillMd: inCategory(category), date: day(i + 1) }))
    const { file, data } = await writeLines([record('cat', inCategory('b'), { versions })])
    await skillsteadJson(['import', file, '--data', data])
    const readHeads = () => onStore(data, (store) => store.prepare('select * from heads').all())
    const before = readHeads()
    expect(await skillsteadJson<Summary>(['import', file, '--data', data])).toMatchObject({ taken: 0, unchanged: 1 })
    expect(readHeads()).toEqual(before)
  })

  it('publishes a new version if the current text of a skill equals an older version in its history', async () => {
    const [early, late] = [skillMd('back', 'Early.'), skillMd('back', 'Late.')]
    const versions = [
      { skillMd: early, date: day(1) },
      { skillMd: late, date: day(2) },
    ]
    const { file, data } = await writeLines([record('back', early, { versions })])
    expect(await skillsteadJson(['import', file, '--data', data])).toMatchObject({ versionsCreated: 3 })
    const { versions: published } = await skillsteadJson<{ versions: unknown[] }>(['show', 'x/back', '--data', data])
    expect(published).toHaveLength(3)
    expect(await skillsteadJson(['import', file, '--data', data])).toMatchObject({ taken: 0, unchanged: 1 })
  })

  it('reports a full disk in one sentence, at whatever step the storage fails', async () => {
    const body = 'word '.repeat(2000)
    const lines = Array.from({ length: 400 }, (_, i) => record(`s${i}`, skillMd(`s${i}`, body)))
    const { file, data } = await writeLines([record('bad', skillMd('bad', body), { repo: 'bad/y' }), ...lines])
    await poisonData(data, { table: 'versions', when: "new.publisher = 'bad'", as: 'full disk' })
    const { code, stdout, stderr } = await skillstead(['import', file, '--data', data, '--json'])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(JSON.parse(stderr).error.detail).toContain('The disk is full. Free some space')
  })

  it('reports a version that fails in the database, logs the cause, and imports all other versions', async () => {
    const versions = [1, 2, 3].map((i) => ({ skillMd: skillMd('mixed', `Text ${i}.`), date: day(i) }))
    const history = record('mixed', versions.at(-1)!.skillMd, { versions })
    const lines = Array.from({ length: 200 }, (_, i) => record(`s${i}`, skillMd(`s${i}`)))
    const { file, data } = await writeLines([history, ...lines])
    await poisonData(data, { table: 'versions', when: `new.published_at = ${Date.parse(day(2))}` })
    const { code, stdout, stderr } = await skillstead(['import', file, '--data', data, '--json'])
    expect(code).toBe(0)
    const reason = 'The version could not be stored because of an internal error. The error log has the cause.'
    expect(JSON.parse(stdout)).toMatchObject({ taken: 201, refused: 0, versionsCreated: 202, versionsRefused: 1 })
    expect(JSON.parse(stdout).refusals).toEqual([{ id: 'mixed', reason }])
    expect(stdout).not.toContain(poisonText)
    expect(stderr).toContain('A version of x/mixed could not be imported.')
    expect(stderr).toContain(poisonText)
    const { versions: stored } = await skillsteadJson<{ versions: unknown[] }>(['show', 'x/mixed', '--data', data])
    expect(stored).toHaveLength(2)
  })

  it('reads lines of many megabytes fast, and skips a line over the size limit', async () => {
    const long = record('long', skillMd('long'), { files: [{ path: 'data.txt', text: 'abc '.repeat(2_000_000) }] })
    const { file, data } = await writeLines(
      [long, 'x'.repeat(150 * 1024 * 1024), record('last', skillMd('last'))],
      'a.ndjson.gz',
    )
    const summary = await skillsteadJson<Summary>(['import', file, '--data', data])
    expect(summary).toMatchObject({ taken: 2, refused: 1 })
    expect(summary.refusals).toEqual([{ id: 'line 2', reason: 'The line is longer than 64 MiB.' }])
  })

  it('reports where a truncated file ends, and imports the complete lines', async () => {
    const { file, data } = await writeLines([record('whole', skillMd('whole'))], 'cut.ndjson.gz')
    const lines = Array.from({ length: 500 }, (_, i) =>
      record(`s${i}`, skillMd(i % 3 === 0 ? `S ${i}` : `s${i}`, String(Math.sin(i)).repeat(20))),
    )
    const bytes = gzipSync(lines.join('\n'))
    await writeFile(file, bytes.subarray(0, bytes.length - 2000))
    const { code, stdout, stderr } = await skillstead(['import', file, '--data', data])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(
      /cut\.ndjson\.gz is cut off or damaged after line \d+\. All lines up to there are imported\.\n$/,
    )
    const [, number] = /after line (\d+)/.exec(stderr)!
    const { total } = await skillsteadJson<{ total: number }>(['search', '', '--data', data])
    expect(total).toBe(Number(number))
  })

  it('reports an empty source', async () => {
    const { file, data } = await writeLines([''])
    const { code, stderr } = await skillstead(['import', file, '--data', data])
    expect(code).toBe(1)
    expect(stderr).toMatch(/contains no skills\. Pass a folder with SKILL\.md files at any depth\.\n$/)
  })
})

describe('an import of files', () => {
  it('of a zip uses one SKILL.md per folder, skips dependency folders, and reports the omitted files', async () => {
    const folder = await makeFolder()
    const paths = ['twins/SKILL.md', 'twins/skill.md', 'node_modules/dependency/SKILL.md', 'fine/SKILL.md']
    const files = paths.map((path) => ({ path, bytes: Buffer.from(skillMd(path.split('/').at(-2)!)) }))
    await writeFile(join(folder, 'odd.zip'), writeZip(files))
    const data = join(folder, 'data')
    const summary = await skillsteadJson<Summary>([
      'import',
      join(folder, 'odd.zip'),
      '--owner',
      'team',
      '--data',
      data,
    ])
    expect(summary).toMatchObject({ taken: 1, refused: 1 })
    expect(summary.refusals[0]?.reason).toContain('one SKILL.md')
    expect((await skillstead(['show', 'team/dependency', '--data', data])).code).toBe(1)
  })

  it('refuses a folder that has more files than a version may have, without reading all of them first', async () => {
    const folder = await makeFolder()
    const source = join(folder, 'source')
    await mkdir(source)
    await writeFile(join(source, 'SKILL.md'), skillMd('heavy'))
    for (const name of ['a', 'b', 'c']) await writeFile(join(source, name), Buffer.alloc(8 * 1024 * 1024))
    const command = ['import', source, '--owner', 'team', '--data', join(folder, 'data')]
    const summary = await skillsteadJson<Summary>(command)
    expect(summary).toMatchObject({ taken: 0, refused: 1 })
    expect(summary.refusals[0]?.reason).toContain('The files have 25165885 bytes; 16777216 are allowed.')
  })
})
