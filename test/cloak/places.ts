import type { ScanFile } from '@skillstead/scanner'
import { intoFiles, type Cloak } from './cloak.ts'

const linesOf = (body: string) => body.split('\n').filter((line) => /\w/.test(line))

const indent = (body: string, by: string) => body.replace(/^/gm, by)

/** A cloak in the front matter of SKILL.md, whose other text is kept. */
function inFrontMatter(name: string, about: string, write: (body: string) => string): Cloak {
  return {
    name,
    about,
    apply: (files) =>
      files.map((file): ScanFile => {
        if (file.path !== 'SKILL.md' || !('text' in file)) return file
        const body = file.text.replace(/^---\r?\n[^]*?\n---\r?\n/, '')
        return {
          path: 'SKILL.md',
          text: `---\nname: guide\ndescription: Reads files.\n${write(body)}\n---\n\n# Guide\n\nRead files.\n`,
        }
      }),
  }
}

/** The text in names, in several files, and in the YAML of the front matter. */
export const places: readonly Cloak[] = [
  intoFiles('two files', 'every second line in the other file', (body) => {
    const lines = linesOf(body)
    return {
      cover: 'Read `notes/a.md` and `notes/b.md` line by line in turn.',
      files: [0, 1].map((which) => ({
        path: `notes/${'ab'[which]}.md`,
        text: lines.filter((_, at) => at % 2 === which).join('\n'),
      })),
    }
  }),
  inFrontMatter('YAML block', 'a literal block', (body) => `notes: |\n${indent(body, '  ')}`),
  inFrontMatter(
    'YAML quoted',
    'a quoted text with escapes for its spaces',
    (body) => `notes: ${JSON.stringify(body).replaceAll(' ', '\\x20')}`,
  ),
  inFrontMatter(
    'YAML merge',
    'a mapping that others merge',
    (body) => `base: &base\n  notes: ${JSON.stringify(body)}\nuse:\n  <<: *base`,
  ),
  inFrontMatter('YAML comment', 'comments', (body) => indent(body, '# ')),
]
