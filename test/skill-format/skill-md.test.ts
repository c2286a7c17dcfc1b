import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  checkPortability,
  findBody,
  firstParagraph,
  mergeWarnings,
  outlineSkillMd,
  parseSkillMd,
  readBlocks,
  readCapabilities,
  readContract,
  readSkillFields,
  rewriteFrontmatterName,
  toSlug,
  type SkillWarning,
} from '@skillstead/skill-format'

const namePattern = /^[a-z0-9]+(?:-[a-z0-9]+)*$/

/** Shortened documents from public repositories; each names its repository, commit and licence. */
const wild = new Map<string, string>(
  readFileSync(new URL('../fixtures/malformed.ndjson', import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { case: string; skillMd: string })
    .map((record) => [record.case, record.skillMd]),
)

function parseWild(start: string) {
  const [, text] = [...wild].find(([name]) => name.startsWith(start))!
  return parseSkillMd(text)
}

function doc(...frontmatter: string[]): string {
  return `---\n${frontmatter.join('\n')}\n---\n# Title\n`
}

function readFields(...lines: string[]) {
  return readSkillFields(parseSkillMd(doc(...lines)))
}

function readTools(tools: string): string[] {
  return readCapabilities(parseSkillMd(doc(`allowed-tools: ${tools}`)))
}

function check(text: string, folderName?: string) {
  return checkPortability(text, parseSkillMd(text), { folderName })
}

function codes(warnings: readonly SkillWarning[]): string[] {
  return warnings.map(({ code }) => code)
}

function listTexts(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.entries(value).flat().flatMap(listTexts) : []
}

/** Texts of characters with a meaning in frontmatter, and of any others. */
const documents = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.constantFrom(...fragments()), { maxLength: 30 }).map((parts) => parts.join('')),
  fc
    .array(fc.constantFrom(...fragments()), { maxLength: 20 })
    .map((parts) => `---\nname: a\n${parts.join('')}\n---\nbody\n`),
)

function fragments(): string[] {
  const marks = ['---', '\n', '\r\n', '\r', ' ', '  ', '\t', ': ', ':', '- ', '#', '## name: x', '"', "'", '`', '```\n']
  const yaml = ['[', ']', '{', '}', ',', '&a ', '*a', '!!int ', '|', '>', '%', '@', '? ', '<<: ', '~', '\\ud800', '0x']
  const words = [
    'name',
    'name:',
    'description: ',
    'metadata:',
    '__proto__: ',
    'a',
    'é',
    '\0',
    '\u0002',
    '\uFEFF',
    '\uD800',
  ]
  return [...marks, ...yaml, ...words]
}

describe('reading a SKILL.md', () => {
  it('returns the frontmatter, the unchanged body, and the line number where the body starts', () => {
    const parsed = parseSkillMd('---\nname: pdf\ndescription: Reads PDFs\n---\n\n# PDF\n')
    expect(parsed.frontmatter).toEqual({ name: 'pdf', description: 'Reads PDFs' })
    expect(parsed).toMatchObject({ frontmatterStatus: 'ok', body: '\n# PDF\n', bodyLine: 5, warnings: [] })
  })

  it('accepts carriage returns, a BOM and blank lines before the frontmatter', () => {
    const parsed = parseSkillMd('\uFEFF\r\n\r\n---\r\nname: pdf\rdescription: Reads\n---\r\nBody\r\n')
    expect(parsed.frontmatter).toEqual({ name: 'pdf', description: 'Reads' })
    expect(parsed).toMatchObject({ body: 'Body\r\n', bodyLine: 7 })
    expect(codes(parsed.warnings)).toEqual(['bom', 'frontmatter_not_first'])
  })

  it('reads a value with an unquoted colon up to the end of its line, and reports the line number', () => {
    const parsed = parseSkillMd(doc('name: x', 'description: Patterns for X: a, b', 'license: MIT'))
    expect(parsed.frontmatter).toEqual({ name: 'x', description: 'Patterns for X: a, b', license: 'MIT' })
    expect(parsed.frontmatterStatus).toBe('repaired')
    expect(parsed.warnings).toEqual([expect.objectContaining({ code: 'frontmatter_repaired', line: 3 })])
  })

  it.each(['*bold* text', '@mention', '`code` first', '%percent', '[a] [b]', '"quoted" and more', "'it's'", '{open'])(
    'reads a value that is invalid YAML as text: %s',
    (value) => {
      const { frontmatter } = parseSkillMd(doc('name: x', `description: ${value}`, 'tags: [a]'))
      expect(frontmatter).toEqual({ name: 'x', description: value === "'it's'" ? "it's" : value, tags: ['a'] })
    },
  )

  it('leaves the valid values of other keys unchanged when it repairs an invalid value', () => {
    const { frontmatter } = parseSkillMd(doc('a: {b: [1, 2]}', 'c: x: y', 'd: |', '  e: f', '  g', 'h: "i: j"'))
    expect(frontmatter).toEqual({ a: { b: [1, 2] }, c: 'x: y', d: 'e: f\ng\n', h: 'i: j' })
  })

  it('uses the last value of a duplicate key, and warns', () => {
    const parsed = parseSkillMd(doc('name: a', 'name: b'))
    expect(parsed.frontmatter.name).toBe('b')
    expect(parsed.warnings).toEqual([expect.objectContaining({ code: 'duplicate_key', line: 3 })])
  })

  it('removes control characters and lone surrogates from values', () => {
    const parsed = parseSkillMd(doc('name: a\0b\u0002c', 'description: "x\\x07y \\ud83d z"', 'emoji: "\\ud83d\\ude00"'))
    expect(parsed.frontmatter).toEqual({ name: 'abc', description: 'xy \uFFFD z', emoji: '😀' })
    expect(codes(parsed.warnings)).toContain('control_characters')
  })

  it('expands YAML anchors up to a limit', () => {
    expect(parseSkillMd(doc('a: &x [1, 2]', 'b: *x')).frontmatter).toEqual({ a: [1, 2], b: [1, 2] })
    const laughs = ['a0: &a0 [lol, lol]']
    for (let i = 1; i < 40; i += 1) laughs.push(`a${i}: &a${i} [*a${i - 1}, *a${i - 1}, *a${i - 1}]`)
    const parsed = parseSkillMd(doc(...laughs))
    expect(JSON.stringify(parsed.frontmatter).length).toBeLessThan(1_000_000)
    expect(codes(parsed.warnings)).toContain('frontmatter_too_large')
    const long = parseSkillMd(doc(`a: &a ${'x'.repeat(20_000)}`, `b: [${'*a, '.repeat(2000)}]`))
    expect(JSON.stringify(long.frontmatter).length).toBeLessThan(1_000_000)
    expect(() => JSON.stringify(parseSkillMd(doc('a: &a', '  b: *a')).frontmatter)).not.toThrow()
  })

  it('ignores the key __proto__ and changes no prototype', () => {
    const parsed = parseSkillMd(
      doc('__proto__: {polluted: 1}', 'metadata: {"__proto__": {polluted: 1}, constructor: a}'),
    )
    expect(Object.keys(parsed.frontmatter)).toEqual(['metadata'])
    expect(Object.keys(parsed.frontmatter.metadata as object)).toEqual(['constructor'])
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
    expect((parsed.frontmatter as { polluted?: unknown }).polluted).toBeUndefined()
  })

  it('keeps the digits of a number, as text if JSON would write other digits', () => {
    const lines = ['a: 12345678901234567890', 'b: .inf', 'c: 1.5', 'd: -0', 'e: 1.10', 'f: [2.50, 0x1F, 7]', 'g: 1e3']
    const { frontmatter } = parseSkillMd(doc(...lines))
    const kept = { a: '12345678901234567890', b: '.inf', c: 1.5, d: '-0', e: '1.10', f: ['2.50', '0x1F', 7], g: '1e3' }
    expect(frontmatter).toEqual(kept)
  })

  it.each([
    ['at the end', ['  author: A. Person', '  homepage:example.org/me']],
    ['at the beginning', ['  homepage:example.org/me', '  author: A. Person']],
    ['in the middle', ['  author: A. Person', '  homepage:example.org/me', '  version: 1.10']],
    ['twice', ['  a:b', '  author: A. Person', '  loose words']],
  ])('ignores single lines of a mapping that are not `key: value`, and names them: %s', (_, lines) => {
    const { frontmatter, warnings } = parseSkillMd(doc('name: x', 'metadata:', ...lines))
    expect(frontmatter.metadata).toMatchObject({ author: 'A. Person' })
    const wrong = lines.flatMap((line, index) => (line.includes(': ') ? [] : [4 + index]))
    expect(warnings.map(({ code, line }) => [code, line])).toEqual(wrong.map((line) => ['line_ignored', line]))
  })

  it.each([
    [
      'an item of a list',
      ['  author: A', '  uses:', '    - a', '    - b: [c', '    - d'],
      [7],
      { author: 'A', uses: ['a', 'd'] },
    ],
    ['a list as deep as its key', ['  uses:', '  - a', '  - b: [c', '  author: A'], [6], { author: 'A', uses: ['a'] }],
    [
      'a key one space too far left',
      ['  author: A', '  license: MIT', ' home: x'],
      [6],
      { author: 'A', license: 'MIT' },
    ],
    ['a key one space too far right', ['  author: A', '   home: x', '  year: "1"'], [5], { author: 'A', year: '1' }],
    ['text one space too far left', ['  notes: |', '    a', '   b', '  author: A'], [6], { notes: 'a\n', author: 'A' }],
    [
      'two levels down',
      ['  a:', '    b:', '      c: d', '      e: {f', '    g: h'],
      [7],
      { a: { b: { c: 'd' }, g: 'h' } },
    ],
    ['a key of an item', ['  a:', '    - b: c', '      d: [e', '    - f'], [6], { a: [{ b: 'c' }, 'f'] }],
    ['the first line', ['  - b: [c', '  - d'], [4], ['d']],
    ['an item below a broken key', ['  "a: [b', '  author: A'], [4], { author: 'A' }],
  ])('ignores single lines of a block that are not valid YAML, and names them: %s', (_, lines, wrong, metadata) => {
    const parsed = parseSkillMd(doc('name: x', 'metadata:', ...lines, 'license: MIT'))
    expect(parsed.frontmatter).toEqual({ name: 'x', metadata, license: 'MIT' })
    expect(parsed.warnings.map(({ code, line }) => [code, line])).toEqual(wrong.map((line) => ['line_ignored', line]))
    expect(parsed.warnings[0]!.message).toContain(`Line ${wrong[0]} `)
  })

  it.each([
    ['description: "Plans a trip: trains.', '', '  ALWAYS USE: for trips.', 'license: MIT'],
    ["description: 'Plans a trip: trains.", '  ALWAYS USE: for trips.', 'license: MIT'],
    ['description: "Plans a trip: trains.', 'license: MIT'],
  ])('removes a quote that begins a value and does not end: %s', (...lines) => {
    const { frontmatter, warnings } = parseSkillMd(doc('name: x', ...lines))
    expect(frontmatter.description).toMatch(/^Plans a trip: trains\./)
    expect(frontmatter.license).toBe('MIT')
    expect(warnings.map(({ message }) => message)).toEqual([expect.stringContaining('does not end, and was removed')])
  })

  it('distinguishes missing, empty, unterminated and unreadable frontmatter', () => {
    expect(parseSkillMd('# Title')).toMatchObject({ frontmatterStatus: 'missing', body: '# Title', bodyLine: 1 })
    expect(parseSkillMd('')).toMatchObject({ frontmatterStatus: 'missing', body: '' })
    expect(parseSkillMd('---\n# only a comment\n---\nx')).toMatchObject({ frontmatterStatus: 'empty', body: 'x' })
    expect(parseSkillMd('---\nname x\n---\nx')).toMatchObject({
      frontmatterStatus: 'invalid',
      frontmatter: {},
      body: 'x',
    })
    const open = parseSkillMd('---\nname: a\ndescription: b: c\n\n# Title\ntext')
    expect(open).toMatchObject({ frontmatterStatus: 'unterminated', body: '\n# Title\ntext', bodyLine: 4 })
    expect(open.frontmatter).toEqual({ name: 'a', description: 'b: c' })
    expect(parseSkillMd('---\n\nA rule above prose.').frontmatterStatus).toBe('missing')
  })

  it('does not treat a horizontal rule in the body as the end of an unterminated frontmatter', () => {
    const parsed = parseSkillMd('---\nname: a\n\n# Title\n\n> Quote: x\n\nText\n\n---\nMore')
    expect(parsed).toMatchObject({ frontmatterStatus: 'unterminated', frontmatter: { name: 'a' }, bodyLine: 3 })
    expect(parsed.body).toContain('---\nMore')
  })

  it('reads a frontmatter inside a code fence, and keys inside a heading', () => {
    const fenced = parseSkillMd('```yaml\n---\nname: a\n---\n```\nBody')
    expect(fenced).toMatchObject({ frontmatter: { name: 'a' }, body: 'Body', bodyLine: 6 })
    expect(codes(fenced.warnings)).toEqual(['frontmatter_fenced'])
    expect(parseSkillMd(doc('## name: a description: b c', 'license: MIT')).frontmatter).toEqual({
      name: 'a',
      description: 'b c',
      license: 'MIT',
    })
  })

  it('never throws, and returns plain JSON whose body is the end of the text', () => {
    fc.assert(
      fc.property(documents, (text) => {
        const parsed = parseSkillMd(text)
        expect(text.endsWith(parsed.body)).toBe(true)
        expect(findBody(text)).toMatchObject({ body: parsed.body, bodyLine: parsed.bodyLine })
        expect(JSON.parse(JSON.stringify(parsed.frontmatter))).toEqual(parsed.frontmatter)
        for (const value of listTexts(parsed.frontmatter)) {
          expect(value.isWellFormed() && !/(?![\t\n\r])\p{Cc}/u.test(value)).toBe(true)
        }
        readSkillFields(parsed)
        checkPortability(text, parsed)
        outlineSkillMd(parsed.body)
        readContract(parsed)
        readCapabilities(parsed)
      }),
      { numRuns: 1500 },
    )
  })

  it.each([
    ['brackets', `---\na: ${'['.repeat(5_000_000)}\n---\n`],
    ['an endless line', `---\n${'a'.repeat(10_000_000)}`],
    ['blank lines', `---\n${'\n'.repeat(10_000_000)}`],
    ['keys', `---\n${'a: b: c\n'.repeat(1_000_000)}---\n`],
    ['spaces', `---\na${' '.repeat(30_000)}\n---\n`],
    ['headings', '# a\n'.repeat(2_500_000)],
    ['links', '['.repeat(10_000_000)],
    ['emphasis', '*_`'.repeat(3_000_000)],
    ['quoted brackets', `---\nname: x\n---\n${'![[](<'.repeat(1_500_000)}`],
  ])('takes linear time on %s', (_, text) => {
    // CPU time instead of elapsed time, which a busy machine would dominate.
    const before = process.threadCpuUsage()
    const parsed = parseSkillMd(text)
    checkPortability(text, parsed)
    outlineSkillMd(parsed.body)
    readContract(parsed)
    const { user, system } = process.threadCpuUsage(before)
    expect((user + system) / 1000).toBeLessThan(4000)
  })
})

describe('SKILL.md documents from public repositories', () => {
  it.each([...wild])('are read as far as possible: %s', (_, text) => {
    const parsed = parseSkillMd(text)
    const fields = readSkillFields(parsed)
    expect(fields.name ?? fields.nameSlug).toMatch(namePattern)
    expect(fields.description).toMatch(/\S/)
    // Each has a peculiarity that some strict parser rejects.
    expect(mergeWarnings(parsed.warnings, fields.warnings, checkPortability(text, parsed).warnings)).not.toEqual([])
  })

  it('are changed only where their frontmatter is invalid YAML', () => {
    expect(parseWild('unquoted @').frontmatter.metadata).toMatchObject({
      triggers: { files: ['**/*.ts', '**/*.html'], keywords: expect.arrayContaining(['@defer', 'NgOptimizedImage']) },
    })
    expect(parseWild('case-colliding').frontmatter.description).toMatch(/^\*\*botlearn\*\* — /)
    expect(parseWild('frontmatter wrapped').frontmatter.tools).toHaveLength(1)
    expect(parseWild('&nbsp;').frontmatter.name).toBe('Pantun Indonesia')
  })
})

describe('the fields of a registry', () => {
  it.each([
    ['name', 'name: {{NAME}}', "'{{NAME}}' is a placeholder"],
    ['name', 'name: <skill-name>', "'<skill-name>' is a placeholder"],
    ['name', 'name: ${NAME}', "'${NAME}' is a placeholder"],
    ['name', 'name: [your-name]', 'is a placeholder or no text'],
    ['name', 'name: Data_Tools', "Use 'data-tools'"],
    ['name', `name: ${'a'.repeat(65)}`, `Use '${'a'.repeat(64)}'`],
    ['name', 'Name: pdf', "The key 'Name' is not read"],
    ['description', 'DESCRIPTION: Reads.', "The key 'DESCRIPTION' is not read"],
    ['description', 'description: {{ description }}', "'{{ description }}' is a placeholder"],
    ['description', 'description:Reads.', "Write a space after 'description:'"],
    ['version', 'version: 1.0.0-beta', "Write '1.0.0', or pass a version"],
    ['version', 'version: v2.1.0+build.7', "Write '2.1.0', or pass a version"],
    ['version', 'version: 01.2', "Write '1.2.0', or pass a version"],
    ['version', 'version: 2024-05-01', 'Write three numbers such as 1.0.0'],
    ['version', 'version: 1.0.12345678901', 'Write three numbers such as 1.0.0'],
    ['version', 'version: {{VERSION}}', "'{{VERSION}}' is not three numbers"],
  ] as const)('are refused where they would be guessed: %s of %s', (path, line, message) => {
    const others = ['name: pdf', 'description: Reads.'].filter((other) => !other.startsWith(path))
    const { refusals } = readFields(...others, line)
    expect(refusals).toEqual([
      expect.objectContaining({ path, message: expect.stringContaining(message), line: others.length + 2 }),
    ])
  })

  it('are refused if the key of a field is repeated, but not if any other key is repeated', () => {
    expect(readFields('name: a', 'description: d', 'name: a').refusals).toHaveLength(1)
    expect(
      readFields('name: a', 'description: d', 'x: 1', 'x: 2', 'metadata:', '  name: b', '  name: c'),
    ).toMatchObject({
      refusals: [],
    })
  })

  it('come from the key `metadata`, or else from the top level of the frontmatter', () => {
    const fields = readFields(
      'name: pdf',
      'version: 9.9.9',
      'category: top',
      'metadata:',
      '  version: 1.2.3',
      '  category: in',
    )
    expect(fields).toMatchObject({ name: 'pdf', version: '1.2.3', category: 'in', keywords: [], warnings: [] })
    expect(readFields('name: pdf', 'version: 1.0.0', 'license: MIT')).toMatchObject({
      version: '1.0.0',
      license: 'MIT',
    })
  })

  it('convert values of other types to their source text, with a warning', () => {
    const fields = readFields('name: 0042', 'description: [a, b]', 'license: yes')
    expect(fields).toMatchObject({ name: '0042', description: 'a, b', license: 'yes' })
    expect(fields.warnings.map(({ code, line }) => [code, line])).toEqual([
      ['not_text', 2],
      ['not_text', 3],
      ['not_text', 4],
    ])
  })

  it('turn an invalid name into a slug, and keep the original name as the display name', () => {
    const fields = readFields('name: Connection Pooling')
    expect(fields).toMatchObject({ nameSlug: 'connection-pooling', displayName: 'Connection Pooling' })
    expect(fields.name).toBeUndefined()
    expect(codes(fields.warnings)).toEqual(['name_pattern'])
    expect(readFields('name: 水浒传').nameSlug).toBeUndefined()
  })

  it.each(['1.0', 'v1.0.0', '01.0.0', '1.0.0-beta', '2', 'latest'])('ignore the invalid version %s', (version) => {
    const fields = readFields('name: a', `version: ${version}`)
    expect(fields.version).toBeUndefined()
    expect(codes(fields.warnings)).toEqual(['version_ignored'])
  })

  it('accept keywords as a list or as text, remove duplicates, and limit their number', () => {
    expect(readFields('tags: [a, b, a, 7, " "]', 'metadata:', '  keywords: code review, testing').keywords).toEqual([
      'code review',
      'testing',
      'a',
      'b',
      '7',
    ])
    expect(readFields('keywords: one two').keywords).toEqual(['one', 'two'])
    const many = readFields(
      `tags: [${Array.from({ length: 100 }, (_, i) => `${'k'.repeat(80)}${i}, t${i}`).join(', ')}]`,
    )
    expect(many.keywords).toHaveLength(32)
    expect(Math.max(...many.keywords.map(({ length }) => length))).toBe(64)
  })
})

describe('slugs', () => {
  it('are lower case, have no diacritics, and have only single hyphens', () => {
    expect(toSlug('Crème Brûlée & Co.')).toBe('creme-brulee-co')
    expect(toSlug('stitch::react-components')).toBe('stitch-react-components')
    expect(toSlug('水浒传')).toBe('')
  })

  it('are valid names or empty, and the slug of a slug is the same slug', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        const slug = toSlug(text)
        expect(slug === '' || (slug.length <= 64 && namePattern.test(slug))).toBe(true)
        expect(toSlug(slug)).toBe(slug)
      }),
    )
  })
})

describe('the portability of a SKILL.md', () => {
  const sound = ['name: pdf', 'description: Reads PDFs.', 'license: MIT', 'compatibility: Needs Python']

  it('is confirmed without warnings for a document with only the six standard keys', () => {
    const text = doc(...sound, 'allowed-tools: Bash(git add:*, git log:*) Read', 'metadata:', '  version: "1.0"')
    expect(check(text, 'pdf')).toEqual({ portable: true, warnings: [] })
  })

  it.each([
    ['key_not_standard', doc(...sound, 'author: me')],
    ['flow_style', doc(...sound, 'metadata: {a: b}')],
    ['duplicate_key', doc(...sound, 'license: MIT')],
    ['anchors', doc(...sound, 'metadata:', '  a: &x b', '  c: *x')],
    ['tags', doc(...sound, 'metadata:', '  a: !!str b')],
    ['metadata_not_text', doc(...sound, 'metadata:', '  version: 1.0')],
    ['metadata_not_text', doc(...sound, 'metadata:', '  flag: yes')],
    ['metadata_not_mapping', doc(...sound, 'metadata: a')],
    ['allowed_tools_form', doc(...sound, 'allowed-tools:', '  - Read')],
    ['allowed_tools_form', doc(...sound, 'allowed-tools: Read, Write')],
    ['name_pattern', doc('name: PDF Tools', 'description: d')],
    ['name_pattern', doc('name: a--b', 'description: d')],
    ['name_missing', doc('description: d')],
    ['not_text', doc('name: 8004', 'description: d')],
    ['description_missing', doc('name: a')],
    ['description_long', doc('name: a', `description: ${'d'.repeat(1025)}`)],
    ['compatibility_long', doc('name: a', 'description: d', `compatibility: ${'d'.repeat(501)}`)],
    ['bom', `\uFEFF${doc(...sound)}`],
    ['frontmatter_not_first', `\n${doc(...sound)}`],
    ['frontmatter_missing', '# Title'],
    ['frontmatter_repaired', doc('name: a', 'description: b: c')],
    ['frontmatter_unterminated', '---\nname: a\ndescription: b\n'],
  ])('is denied with the warning %s', (code, text) => {
    const result = check(text)
    expect(result.portable).toBe(false)
    expect(codes(result.warnings)).toContain(code)
  })

  it('limits the number of characters, not of code units, and does not depend on carriage returns', () => {
    expect(check(doc('name: a', `description: ${'😀'.repeat(1024)}`)).portable).toBe(true)
    expect(check(doc(...sound).replaceAll('\n', '\r\n')).portable).toBe(true)
  })

  it('requires that the name of the skill is the name of its folder', () => {
    expect(codes(check(doc(...sound), 'other').warnings)).toEqual(['name_folder_differs'])
  })

  it('has a warning if Claude Code would cut the fields description and when_to_use', () => {
    const described = `description: ${'a'.repeat(1000)}`
    const [whole, cut] = [536, 537].map((count) => doc('name: x', described, `when_to_use: ${'b'.repeat(count)}`))
    expect(codes(check(whole!).warnings)).toEqual(['key_not_standard'])
    expect(codes(check(cut!).warnings)).toEqual(['key_not_standard', 'listing_long'])
  })

  it('is confirmed for a long body, with a recommendation to shorten the body', () => {
    const long = check(`${doc(...sound)}${'line\n'.repeat(501)}`)
    expect(long.portable).toBe(true)
    expect(codes(long.warnings)).toEqual(['body_long'])
    expect(codes(check(doc(...sound) + '水'.repeat(6000)).warnings)).toEqual(['body_long'])
  })
})

describe('the outline of a body', () => {
  it('lists the headings outside code and comments, as plain text', () => {
    const body =
      '# One `two` [three](http://x) **four** ##\n```sh\n# no\n```\n<!--\n# no\n-->\nFive\n===\n    # no\n#no\n###### six'
    expect(outlineSkillMd(body).headings).toEqual(['One two three four', 'Five', 'six'])
  })

  it('lists headings that follow the end of a code block or comment', () => {
    const body =
      '````md\n```\n# no\n```\n ````\n# a\n~~~ x\n# no\n```\n~~~\n\u00a0<!-- # no -->\n# b\n``` ` `\n# c\n<!-- x\n```\n--> y\n# d\n```\n# no'
    expect(outlineSkillMd(body).headings).toEqual(['a', 'b', 'c', 'd'])
  })

  it('treats a line above a row of dashes as a heading only if the line is prose', () => {
    const body = 'one\n--\n- two\n---\n\n---\n# three\n---\n```\n```\n===\nfour\n - \n\n  five\n  =\t'
    expect(outlineSkillMd(body).headings).toEqual(['one', 'three', 'five'])
  })

  it('is the same whether it is computed alone or together with the contract', () => {
    const line = fc.constantFrom(
      '# T',
      '## Inputs',
      'Returns',
      '---',
      '- `a`: b',
      '```',
      '<!--',
      '-->',
      'text',
      '',
      '\r',
    )
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const parsed = parseSkillMd(lines.join('\n'))
        const blocks = readBlocks(parsed.body)
        expect(outlineSkillMd(parsed.body, blocks)).toEqual(outlineSkillMd(parsed.body))
        expect(readContract(parsed, blocks)).toEqual(readContract(parsed))
        expect(firstParagraph(parsed.body, blocks)).toBe(firstParagraph(parsed.body))
      }),
    )
  })

  it('has the first prose as its summary, not pictures, lists, quotes or code', () => {
    const body =
      '# T\n\n![badge](x)\n\n> quote\n\n- item\n\n```\ncode\n```\n\nReads **PDF** files\nwith snake_case and `code`.\n\nMore.'
    expect(firstParagraph(body)).toBe('Reads PDF files with snake_case and code.')
    expect(outlineSkillMd(body).summary).toBe(firstParagraph(body))
    expect(firstParagraph('# Only a heading')).toBe('')
  })

  it.each([
    [
      '# T\n\nUse it to:\n\n- fill in forms\n- check them twice.\n\nMore text follows here.',
      'Use it to: fill in forms; check them twice.',
    ],
    [
      'This skill:\n1. reads the invoices\n2. sums them up\n## Next\nText.',
      'This skill: reads the invoices; sums them up',
    ],
    [
      '使用场景：\n\n- 需要整理大量合同\n- 需要翻译技术文档\n',
      '使用场景： 需要整理大量合同； 需要翻译技术文档'.replace('； ', '; '),
    ],
    [
      'Before the first call, run:\n\n```sh\nls\n```\n\nReads and writes calendars of teams.',
      'Reads and writes calendars of teams.',
    ],
    ['Reads calendars of whole teams. It needs:\n\n```\na\n```', 'Reads calendars of whole teams.'],
    ['读取整个团队的日历并生成报告。需要：\n\n```\na\n```', '读取整个团队的日历并生成报告。'],
    ['[![ci](a.svg)](b)\n\nEnglish | 中文\n\nTranslates manuals for machines.', 'Translates manuals for machines.'],
    [
      'name: x\ndescription: Copies a file.\n\n# Copies\n\nCopies whole folders to disks.',
      'Copies whole folders to disks.',
    ],
    [
      '**Author**: Ann\n**Licence**: MIT, see the file\n\nCopies whole folders to disks.',
      'Copies whole folders to disks.',
    ],
    [
      '# T\n\n> Based on version 3.5 of the framework.\n\n## Rules\n\n- Prefer types',
      'Based on version 3.5 of the framework. Prefer types',
    ],
    [
      '# T\n\n| Tool | Purpose |\n|---|---|\n| rename | changes many names |',
      'Tool Purpose; rename changes many names',
    ],
    ['Runs it.', 'Runs it.'],
  ])('summarises %j', (body, summary) => {
    expect(firstParagraph(body).replaceAll(/ {2,}/g, ' ')).toBe(summary)
  })

  it.each([
    '',
    '\n\n',
    '# Only a heading',
    'hey',
    'This skill:',
    '---',
    '![a](b.png)',
    '```\ncode\n```',
    '<br>',
    'Category: x\nVersion: 1',
  ])('has no summary for %j, which has no content', (body) => {
    expect(firstParagraph(body)).toBe('')
  })

  it('never summarises by a line that ends in a colon, whatever the body', () => {
    const part = fc.constantFrom(
      'Use it when:',
      '- one item:',
      'A whole sentence about work.',
      '## Head',
      '```\nx\n```',
      '要点：',
      '',
      '> q:',
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const summary = firstParagraph(parts.join('\n'))
        expect(summary).not.toMatch(/[:：;；]$/)
        expect(summary === '' && parts.includes('A whole sentence about work.')).toBe(false)
      }),
    )
  })

  it('truncates the summary at a word and limits the headings', () => {
    const { summary, headings } = outlineSkillMd(`${'word '.repeat(300)}\n\n${'# h\n'.repeat(1000)}`)
    expect(summary.length).toBeLessThanOrEqual(500)
    expect(summary.endsWith('word')).toBe(true)
    expect(headings).toHaveLength(200)
  })
})

describe('the contract and capabilities of a skill', () => {
  it('come from the frontmatter, or else from sections of the body', () => {
    const given = parseSkillMd(`${doc('inputs: [{name: file}]')}## Returns\n\n- a **table**\n`)
    expect(readContract(given)).toEqual({ inputs: [{ name: 'file' }], outputs: ['a table'] })
    expect(readContract(parseSkillMd('## Notes\n- x'))).toBeNull()
  })

  it('include the tools that the skill requests', () => {
    expect(readTools('Bash(git add:*, git log:*), Read Read')).toEqual(['Bash(git add:*, git log:*)', 'Read'])
    expect(readTools('[Read, "Bash(npm run *)"]')).toEqual(['Read', 'Bash(npm run *)'])
    expect(readCapabilities(parseSkillMd('none'))).toEqual([])
  })
})

describe('renaming a SKILL.md', () => {
  it.each([
    ['---\nname: a # note\nlicense: MIT\n---\nB', '---\nname: new # note\nlicense: MIT\n---\nB'],
    ['\uFEFF---\r\nname:   "a"\r\n---\r\nB\r\n', '\uFEFF---\r\nname: new\r\n---\r\nB\r\n'],
    ['---\nlicense: MIT\n---\nname: a\n', '---\nlicense: MIT\nname: new\n---\nname: a\n'],
    ['---\nname: >-\n  a\n  b\nlicense: MIT\n---\n', '---\nname: new\nlicense: MIT\n---\n'],
    ['---\nname: a\nname: b\n---\n', '---\nname: new\nname: new\n---\n'],
    ['---\nname: a: b\ndescription: c: d\n---\n', '---\nname: new\ndescription: c: d\n---\n'],
    ['---\n---\nB', '---\nname: new\n---\nB'],
    ['---\n{license: MIT}\n---\nB', '---\n{ name: new, license: MIT}\n---\nB'],
    ['# Title\r\n', '---\r\nname: new\r\n---\r\n# Title\r\n'],
    ['\uFEFF# Title', '\uFEFF---\nname: new\n---\n# Title'],
    ['---\nname: a\n\n# Never closed', '---\nname: new\n\n# Never closed'],
  ])('changes only the name: %j', (before, after) => {
    expect(rewriteFrontmatterName(before, 'new')).toBe(after)
  })

  it('changes the name in any document, and leaves the body unchanged', () => {
    const names = fc.constantFrom('new-name', '8004', 'yes', 'null', '1e3', 'a', '0x1f', 'true')
    fc.assert(
      fc.property(documents, names, (text, name) => {
        const after = parseSkillMd(rewriteFrontmatterName(text, name))
        expect(after.frontmatter.name).toBe(name)
        expect(after.body).toBe(parseSkillMd(text).body)
      }),
      { numRuns: 1500 },
    )
  })
})
