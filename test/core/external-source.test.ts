import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseRepoUrl, parseSource } from '../../packages/core/src/community/external-source.ts'
import { RegistryError } from '@skillstead/protocol'

const raw = 'https://raw.githubusercontent.com'

/** A notation of a source, and its canonical URL, name, author and first candidate. */
const accepted: [written: string, url: string, name: string, author: string, first: string][] = [
  // Repositories, in every form that `npx skills add` takes.
  ['octo/tools', 'https://github.com/octo/tools', 'tools', 'octo', `${raw}/octo/tools/HEAD/SKILL.md`],
  ['github:octo/tools', 'https://github.com/octo/tools', 'tools', 'octo', `${raw}/octo/tools/HEAD/SKILL.md`],
  [
    'https://github.com/octo/tools',
    'https://github.com/octo/tools',
    'tools',
    'octo',
    `${raw}/octo/tools/HEAD/SKILL.md`,
  ],
  [
    'https://github.com/Octo/Tools.git',
    'https://github.com/octo/tools',
    'Tools',
    'Octo',
    `${raw}/octo/tools/HEAD/SKILL.md`,
  ],
  [
    'http://www.github.com/octo/tools/',
    'https://github.com/octo/tools',
    'tools',
    'octo',
    `${raw}/octo/tools/HEAD/SKILL.md`,
  ],
  [
    'https://github.com/octo/tools?tab=readme-ov-file#readme',
    'https://github.com/octo/tools',
    'tools',
    'octo',
    `${raw}/octo/tools/HEAD/SKILL.md`,
  ],
  [
    'git@github.com:octo/tools.git',
    'https://github.com/octo/tools',
    'tools',
    'octo',
    `${raw}/octo/tools/HEAD/SKILL.md`,
  ],
  [
    'ssh://git@github.com/octo/tools.git',
    'https://github.com/octo/tools',
    'tools',
    'octo',
    `${raw}/octo/tools/HEAD/SKILL.md`,
  ],
  ['octo/tools#v2', 'https://github.com/octo/tools/tree/v2', 'tools', 'octo', `${raw}/octo/tools/v2/SKILL.md`],
  // Folders and files of a repository.
  [
    'octo/tools/skills/pdf',
    'https://github.com/octo/tools/tree/HEAD/skills/pdf',
    'pdf',
    'octo',
    `${raw}/octo/tools/HEAD/skills/pdf/SKILL.md`,
  ],
  [
    'https://github.com/octo/tools/tree/main/skills/pdf',
    'https://github.com/octo/tools/tree/main/skills/pdf',
    'pdf',
    'octo',
    `${raw}/octo/tools/main/skills/pdf/SKILL.md`,
  ],
  [
    'https://github.com/octo/tools/blob/main/skills/pdf/SKILL.md#L3',
    'https://github.com/octo/tools/tree/main/skills/pdf',
    'pdf',
    'octo',
    `${raw}/octo/tools/main/skills/pdf/SKILL.md`,
  ],
  [
    'https://github.com/octo/tools/raw/main/skills/pdf/skill.md',
    'https://github.com/octo/tools/tree/main/skills/pdf',
    'pdf',
    'octo',
    `${raw}/octo/tools/main/skills/pdf/skill.md`,
  ],
  [
    `${raw}/octo/tools/main/skills/pdf/SKILL.md`,
    'https://github.com/octo/tools/tree/main/skills/pdf',
    'pdf',
    'octo',
    `${raw}/octo/tools/main/skills/pdf/SKILL.md`,
  ],
  [
    `${raw}/octo/tools/refs/heads/main/skills/pdf/SKILL.md`,
    'https://github.com/octo/tools/tree/main/skills/pdf',
    'pdf',
    'octo',
    `${raw}/octo/tools/main/skills/pdf/SKILL.md`,
  ],
  [
    `${raw}/octo/tools/main/SKILL.md`,
    'https://github.com/octo/tools/tree/main',
    'tools',
    'octo',
    `${raw}/octo/tools/main/SKILL.md`,
  ],
  [
    'https://github.com/octo/tools/blob/main/prompts/pdf.md',
    'https://github.com/octo/tools/blob/main/prompts/pdf.md',
    'pdf',
    'octo',
    `${raw}/octo/tools/main/prompts/pdf.md`,
  ],
  [
    'https://github.com/octo/tools/tree/main/skills/two%20words',
    'https://github.com/octo/tools/tree/main/skills/two%20words',
    'two words',
    'octo',
    `${raw}/octo/tools/main/skills/two%20words/SKILL.md`,
  ],
  // Skills by name.
  ['octo/tools@pdf', 'https://github.com/octo/tools#@pdf', 'pdf', 'octo', `${raw}/octo/tools/HEAD/skills/pdf/SKILL.md`],
  [
    'octo/tools#v2@pdf',
    'https://github.com/octo/tools#v2@pdf',
    'pdf',
    'octo',
    `${raw}/octo/tools/v2/skills/pdf/SKILL.md`,
  ],
  [
    'https://github.com/octo/tools#@pdf',
    'https://github.com/octo/tools#@pdf',
    'pdf',
    'octo',
    `${raw}/octo/tools/HEAD/skills/pdf/SKILL.md`,
  ],
  [
    'https://skills.sh/Octo/tools/pdf',
    'https://skills.sh/octo/tools/pdf',
    'pdf',
    'Octo',
    `${raw}/octo/tools/HEAD/skills/pdf/SKILL.md`,
  ],
  [
    'https://www.skills.sh/octo/tools',
    'https://skills.sh/octo/tools',
    'tools',
    'octo',
    `${raw}/octo/tools/HEAD/SKILL.md`,
  ],
  // Gists, GitLab and the rest of the web.
  [
    'https://gist.github.com/Octo/0123abcdef',
    'https://gist.github.com/octo/0123abcdef',
    '0123abcdef',
    'Octo',
    'https://gist.githubusercontent.com/octo/0123abcdef/raw/SKILL.md',
  ],
  [
    'https://gist.githubusercontent.com/octo/0123abcdef/raw/pdf.md',
    'https://gist.githubusercontent.com/octo/0123abcdef/raw/pdf.md',
    'pdf',
    'octo',
    'https://gist.githubusercontent.com/octo/0123abcdef/raw/pdf.md',
  ],
  [
    'gitlab:octo/group/tools',
    'https://gitlab.com/octo/group/tools',
    'tools',
    'octo',
    'https://gitlab.com/octo/group/tools/-/raw/HEAD/SKILL.md',
  ],
  [
    'https://gitlab.com/octo/tools/-/blob/main/pdf/SKILL.md',
    'https://gitlab.com/octo/tools/-/tree/main/pdf',
    'pdf',
    'octo',
    'https://gitlab.com/octo/tools/-/raw/main/pdf/SKILL.md',
  ],
  [
    'git@gitlab.com:octo/tools.git',
    'https://gitlab.com/octo/tools',
    'tools',
    'octo',
    'https://gitlab.com/octo/tools/-/raw/HEAD/SKILL.md',
  ],
  [
    'https://example.org/skills/pdf/SKILL.md',
    'https://example.org/skills/pdf/SKILL.md',
    'pdf',
    'example.org',
    'https://example.org/skills/pdf/SKILL.md',
  ],
  [
    'https://EXAMPLE.org/skills/pdf/#top',
    'https://example.org/skills/pdf',
    'pdf',
    'example.org',
    'https://example.org/skills/pdf/SKILL.md',
  ],
  ['http://example.org', 'http://example.org', 'example.org', 'example.org', 'http://example.org/SKILL.md'],
  [
    'https://example.org/get?skill=pdf',
    'https://example.org/get?skill=pdf',
    'get',
    'example.org',
    'https://example.org/get?skill=pdf',
  ],
  [
    'https://constructor/notes.md',
    'https://constructor/notes.md',
    'notes',
    'constructor',
    'https://constructor/notes.md',
  ],
]

const refused = [
  'file:///etc/passwd',
  'javascript:alert(1)',
  'data:text/plain,hello',
  'ftp://example.org/SKILL.md',
  'https:example.org/SKILL.md',
  'https:/example.org/SKILL.md',
  'https:\\\\example.org\\SKILL.md',
  'https://me:secret@example.org/SKILL.md',
  'https://token@github.com/octo/tools',
  'https://example%2eorg/SKILL.md',
  'https://exa\nmple.org/SKILL.md',
  'https://example.org/a b/SKILL.md',
  'https://example.org/../SKILL.md',
  'https://example.org/a/%2e%2e/SKILL.md',
  'https://example.org/a/%2E%2e/SKILL.md',
  'https://example.org/a%2fb/SKILL.md',
  'https://example.org/a%5cb/SKILL.md',
  'https://example.org/a%252e/SKILL.md',
  'https://example.org/a%00/SKILL.md',
  'https://example.org/a//SKILL.md',
  'https://example.org/%zz',
  'https://github.com/octo',
  'https://github.com/octo/tools/issues/3',
  'https://github.com/octo/tools/tree',
  'https://github.com/octo/tools/blob/main/../../../other/SKILL.md',
  'https://github.com/octo/..',
  `${raw}/octo/tools/main`,
  'https://gist.github.com/octo/not-an-id',
  'https://gitlab.com/octo',
  'https://skills.sh/octo/tools/pdf/more',
  'https://skills.sh/octo',
  'git@github.com:../etc/passwd',
  'git@example.org:octo/tools.git',
  'octo/tools/../../other',
  'octo/tools/skills@pdf',
  'octo/tools@../pdf',
  'octo/..',
  './skills/pdf',
  '/etc/passwd',
  'C:\\skills',
  'pdf',
  'https://',
  '',
  `https://example.org/${'a/'.repeat(40)}`,
]

describe('the source of an external skill', () => {
  it.each(accepted)('%s is parsed', (written, url, name, author, first) => {
    const source = parseSource(written)
    expect(source).toMatchObject({ url, name, author })
    expect(source.candidates[0]).toBe(first)
  })

  it.each(refused)('%j is refused with an error in the field `url`', (written) => {
    const error = refusalOf(written)
    expect(error).toMatchObject({ code: 'invalid_request', errors: [{ path: 'url' }] })
    expect(error!.message).toMatch(/^url .+\.$/)
  })

  it.each(accepted)('%s has a canonical URL that parses to itself', (written, url, _name, author) => {
    const again = parseSource(url)
    expect(again.url).toBe(url)
    expect(again.author.toLowerCase()).toBe(author.toLowerCase())
    expect(again.repoUrl).toBe(parseSource(written).repoUrl)
  })

  it('has a registry and, if it is known, the URL of the repository', () => {
    expect(parseSource('https://skills.sh/Octo/Tools/pdf')).toMatchObject({
      registry: 'skills.sh',
      repoUrl: 'https://github.com/octo/tools',
      rootIfNamed: 'pdf',
    })
    expect(parseSource('octo/tools')).toMatchObject({ registry: 'github', repoUrl: 'https://github.com/octo/tools' })
    expect(parseSource('gitlab:octo/tools')).toMatchObject({ registry: 'skills.sh' })
    expect(parseSource('https://example.org/pdf')).toMatchObject({ registry: 'skills.sh', repoUrl: '' })
  })

  it("looks for a named skill in its folders before the repository's root file", () => {
    const { candidates } = parseSource('octo/tools@pdf')
    expect(candidates).toContain(`${raw}/octo/tools/HEAD/.claude/skills/pdf/SKILL.md`)
    expect(candidates.at(-1)).toBe(`${raw}/octo/tools/HEAD/SKILL.md`)
  })

  it('has only http and https URLs without credentials or dot segments, for any input text', () => {
    const pieces = fc.constantFrom(
      ...'https:// http:// file:// github.com gist.github.com skills.sh gitlab.com example.org'.split(' '),
      ...'/ .. %2e %2f @ # ? : \\ octo tools tree blob - raw SKILL.md'.split(' '),
      ' ',
    )
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(pieces, { maxLength: 14 }).map((all) => all.join('')),
    )
    fc.assert(
      fc.property(texts, (text) => {
        if (refusalOf(text)) return
        for (const candidate of parseSource(text).candidates) {
          const { protocol, username, pathname, host } = new URL(candidate)
          expect(protocol).toMatch(/^https?:$/)
          expect(username).toBe('')
          expect(decodeURIComponent(pathname)).not.toMatch(/(^|\/)\.\.?(\/|$)/)
          expect(known.has(host) || text.toLowerCase().includes(host)).toBe(true)
        }
      }),
      { numRuns: 500, examples: [['https:///SKILL.md@octo']] },
    )
  })

  it('recognises a GitHub repository by its URL', () => {
    expect(parseRepoUrl('https://github.com/Octo/Tools.git')).toEqual({
      repoUrl: 'https://github.com/octo/tools',
      owner: 'Octo',
    })
    for (const other of [
      'https://github.com/octo',
      'https://github.com/octo/tools/tree/main',
      'octo/tools',
      'https://github.com.example.org/octo/tools',
      'https://example.org/octo/tools',
      'https://github.com/octo/..',
    ]) {
      expect(parseRepoUrl(other), other).toBeUndefined()
    }
  })
})

const known = new Set(['raw.githubusercontent.com', 'gist.githubusercontent.com', 'gitlab.com'])

/** The error for a refused source; fails if anything else is thrown. */
function refusalOf(text: string): RegistryError | undefined {
  try {
    parseSource(text)
    return undefined
  } catch (error) {
    if (error instanceof RegistryError && error.code === 'invalid_request') return error
    throw error
  }
}
