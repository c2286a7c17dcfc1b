import { composeSkill, type LoadLevel, type LoadedSkill } from '@skillstead/skill-format/loading'
import { parseSkillMd, readCapabilities, readContract, firstParagraph } from '@skillstead/skill-format'
import fc from 'fast-check'

/** A skill as a registry would load it whole, made of nothing but its document. */
export function loadDocument(fullContent: string, level: LoadLevel = 'full'): LoadedSkill {
  const parsed = parseSkillMd(fullContent)
  const { description } = parsed.frontmatter
  const metadata: LoadedSkill['metadata'] = {
    name: 'sample',
    fullName: 'alice/sample',
    version: '1.0.0',
    description: typeof description === 'string' ? description.slice(0, 1000) : 'A sample.',
    author: { id: '01943b5c-7c00-7000-8000-000000000000', username: 'alice', avatarUrl: '/api/v1/users/alice/avatar' },
    downloads: 12,
    securityScore: 100,
    verified: false,
    deprecated: false,
    keywords: ['tables', 'csv'],
  }
  const { frontmatter, body } = parsed
  const [contract, capabilities] = [readContract(parsed), readCapabilities(parsed)]
  return composeSkill(
    { metadata, frontmatter, contract, capabilities, summary: firstParagraph(body), fullContent },
    level,
  )
}

const word = fc.oneof(
  fc.stringMatching(/^[a-z]{1,12}$/),
  fc.stringMatching(/^[A-Z][a-z]{1,8}[.,;:!?]$/),
  fc.constantFrom(
    '表を揃える',
    '数据表格。',
    'ข้อมูลตาราง',
    '👩‍🚀',
    '\u0001',
    '<|endoftext|>',
    '"quoted"',
    '\\n',
    '`code`',
    '='.repeat(90),
  ),
)
const words = fc.array(word, { minLength: 1, maxLength: 12 }).map((list) => list.join(' '))

/** A block with marks of its own number: at its beginning, in its middle, at its end. */
type Block = (id: number) => string

const paragraph = words.map(
  (text): Block =>
    (id) =>
      `P${id}a ${text}\nP${id}z`,
)
const longLine = fc.nat(400).map(
  (length): Block =>
    (id) =>
      `P${id}a ${'x'.repeat(length)} P${id}z`,
)
const fence = fc
  .tuple(
    fc.constantFrom('```', '````', '~~~', '```bash'),
    fc.array(words, { maxLength: 4 }),
    fc.constantFrom('', '  ', '> '),
  )
  .map(([mark, lines, prefix]): Block => (id) => {
    const inside = [`F${id}a`, ...lines, '', '# no heading', '| a |', '- no item', `F${id}z`].map((line) =>
      line.replaceAll(/[`~]/g, ''),
    )
    return [mark, ...inside, mark.replace('bash', '')].map((line) => prefix + line).join('\n')
  })
const table = fc.array(words, { minLength: 1, maxLength: 6 }).map((rows): Block => (id) => {
  const lines = rows.map((row) => `| ${row.replaceAll(/[|\n]/g, '')} | b |`)
  return [`| T${id}a | head |`, '|---|:--:|', ...lines, `| T${id}z | last |`].join('\n')
})
const item = fc.tuple(words, fc.boolean()).map(
  ([text, isNested]): Block =>
    (id) =>
      isNested
        ? `- I${id}a ${text}\n\n  \`\`\`\n  F${id}a\n\n  F${id}z\n  \`\`\`\n\n  I${id}z`
        : `- I${id}a ${text}\n  I${id}z`,
)
const comment = words.map(
  (text): Block =>
    (id) =>
      `<!-- C${id}a\n\n## ${text.replaceAll('-->', '')}\n\nC${id}z -->`,
)
const heading = fc.tuple(fc.integer({ min: 1, max: 4 }), fc.boolean(), fc.stringMatching(/^[A-Z][a-z]{0,9}$/)).map(
  ([depth, isUnderlined, text]): Block =>
    (id) =>
      isUnderlined ? `${text} H${id}\n${depth > 1 ? '----' : '===='}` : `${'#'.repeat(depth)} ${text} H${id}`,
)
const block = fc.oneof(
  { arbitrary: heading, weight: 4 },
  { arbitrary: paragraph, weight: 5 },
  { arbitrary: fence, weight: 3 },
  { arbitrary: table, weight: 2 },
  { arbitrary: item, weight: 3 },
  { arbitrary: comment, weight: 1 },
  { arbitrary: longLine, weight: 1 },
)

/** A document of numbered blocks: `F3a` and `F3z` stand in one fence, `T4a` and `T4z` in one table. */
export const anyDocument = fc
  .tuple(fc.array(block, { maxLength: 16 }), fc.boolean(), fc.constantFrom('\n', '\r\n'))
  .map(([blocks, hasFrontmatter, lineEnd]) => {
    const head = '---\nname: sample\ndescription: A sample.\nlicense: MIT\nallowed-tools: Read, Bash(ls:*)\n---\n\n'
    const body = blocks.map((write, id) => write(id)).join('\n\n')
    return `${hasFrontmatter ? head : ''}${body}\n`.replaceAll('\n', lineEnd)
  })
