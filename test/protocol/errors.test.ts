import { readFileSync, writeFileSync } from 'node:fs'
import { errorRemedies, errorTable, localErrorTable } from '@skillstead/protocol'
import { expect, it } from 'vitest'

const toRows = (table: Readonly<Record<string, { status: number; title: string }>>) =>
  Object.entries(table).map(
    ([code, { status, title }]) =>
      `| \`${code}\` | ${status} | ${title} | ${errorRemedies[code as keyof typeof errorRemedies]} |`,
  )

it('docs/errors.md lists each error of the table with its status and remedy', () => {
  const path = new URL('../../docs/errors.md', import.meta.url)
  const stored = readFileSync(path, 'utf8')
  const head = ['| Code | Status | Meaning | What to do |', '|---|---|---|---|']
  const toSection = (name: string, table: Parameters<typeof toRows>[0]) =>
    [`<!-- ${name} -->`, '', ...head, ...toRows(table), '', '<!-- end -->'].join('\n')
  const listed = Object.entries({ responses: errorTable, local: localErrorTable }).reduce(
    (text, [name, table]) =>
      text.replace(new RegExp(`<!-- ${name} -->[^]*?<!-- end -->`), () => toSection(name, table)),
    stored,
  )
  if (process.env['WRITE_DOCS']) writeFileSync(path, listed)
  expect(listed).toContain('`rate_limited`')
  expect(stored, 'Run this test with WRITE_DOCS=1.').toBe(listed)
})
